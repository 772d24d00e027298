"""``mindport compare``: a torch module and its MindSpore port, side by side."""

from __future__ import annotations

import json
import sys
from typing import Any

import click


@click.command()
@click.argument("torch_class", metavar="TORCH.py:Class")
@click.argument("port_class", metavar="PORT.py:Class")
@click.option("--args", "positional", default="", help="Constructor arguments of both, a Python tuple.")
@click.option(
    "--kwargs", "keywords", default="", help="Constructor keyword arguments of both, a Python dict."
)
@click.option("--port-args", help="Constructor arguments of the port, where they differ.")
@click.option("--port-kwargs", help="Constructor keyword arguments of the port, where they differ.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    required=True,
    metavar="SHAPE:DTYPE",
    help="1,3,32,32:float32 or 2,16:int64:0..100.",
)
@click.option(
    "--tolerance", type=float, default=1e-5, show_default=True, help="Largest difference of outputs."
)
@click.option("--grad-tolerance", type=float, default=1e-4, show_default=True, help="The same for gradients.")
@click.option("--mode", type=click.Choice(["pynative", "graph", "both"]), default="both", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of weights and inputs.")
@click.option("--no-grad-check", is_flag=True, help="Do not compare gradients.")
@click.option("--no-train-check", is_flag=True, help="Do not look at what only training shows.")
@click.option("--layers", is_flag=True, help="Print every layer, not only those that differ.")
@click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True)
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True)
def compare(torch_class: str, port_class: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Run a torch module and its MindSpore port on the same weights and inputs.

    Exit code 0: equal within the tolerance; 1: different; 2: something could not be loaded.
    """
    from mindport.compare.report import as_object, as_text
    from mindport.compare.run import Settings
    from mindport.compare.run import compare as run
    from mindport.compare.spec import SpecError, read_arguments, read_input, read_place

    try:
        arguments = read_arguments(options["positional"], options["keywords"])
        port_arguments = arguments
        if options["port_args"] is not None or options["port_kwargs"] is not None:
            port_arguments = read_arguments(options["port_args"] or "", options["port_kwargs"] or "")
        settings = Settings(
            read_place(torch_class),
            read_place(port_class),
            arguments,
            port_arguments,
            tuple(read_input(text) for text in inputs),
            options["tolerance"],
            options["grad_tolerance"],
            ("pynative", "graph") if options["mode"] == "both" else (options["mode"],),
            options["seed"],
            not options["no_grad_check"],
            not options["no_train_check"],
        )
        found = run(settings)
    except SpecError as error:
        click.echo(f"mindport: {error}", err=True)
        sys.exit(2)
    if options["shape"] == "json":
        click.echo(json.dumps(as_object(found, options["language"]), ensure_ascii=False, indent=2))
    else:
        click.echo(as_text(found, options["language"], every_layer=options["layers"]))
    sys.exit(0 if found.equal else 1)
