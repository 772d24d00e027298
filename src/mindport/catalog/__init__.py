"""The knowledge of ``checks/``: typed, validated and immutable."""

from mindport.catalog.load import Catalog, CatalogError, load_catalog
from mindport.catalog.model import ApiRow, Check, Example, Proof, Target, Text

__all__ = ["ApiRow", "Catalog", "CatalogError", "Check", "Example", "Proof", "Target", "Text", "load_catalog"]
