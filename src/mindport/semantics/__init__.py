"""What a name or a value is: scopes, qualified names, class ancestry, constants, compiled functions."""
