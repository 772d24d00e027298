"""``mindport compare``: arguments, exit codes. 0 equal, 1 different, 2 usage error or a side that cannot run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from mindport.cli.output import configured, stop


@click.command()
@click.argument("original", metavar="TORCH_FILE.py:CLASS")
@click.argument("port", metavar="PORT_FILE.py:CLASS")
@click.option("--args", "arguments", help="Constructor arguments of both, a Python tuple: '(3, 10)'.")
@click.option("--kwargs", help="Keyword arguments of both, a Python dict.")
@click.option("--port-args", help="Constructor arguments of the port where they differ.")
@click.option("--port-kwargs", help="Keyword arguments of the port where they differ.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    required=True,
    metavar="SHAPE[:DTYPE[:LOW..HIGH]]",
    help="One input tensor, such as 1,3,32,32 or 2,16:int64:0..100; repeat for more.",
)
@click.option("--tolerance", type=click.FloatRange(0), default=1e-5, show_default=True)
@click.option("--grad-tolerance", type=click.FloatRange(0), default=1e-4, show_default=True)
@click.option("--mode", type=click.Choice(("pynative", "graph", "both")), default="both", show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**31), default=0, show_default=True)
@click.option(
    "--train",
    "as_built",
    is_flag=True,
    help="Both are training as built: a port that never calls set_train() fails.",
)
@click.option("--no-grad-check", is_flag=True, help="Leave gradients out.")
@click.option("--all", "everything", is_flag=True, help="Print every comparison, not only differences.")
@click.option("--format", "output_format", type=click.Choice(("text", "json")), default="text")
@click.option("--language", help="en or zh.")
def compare(original: str, port: str, **options: Any) -> None:
    """Run a torch module and its MindSpore port side by side, with the same weights and inputs."""
    from mindport.compare.job import Job, JobError, read_input, read_side
    from mindport.compare.run import compare as run
    from mindport.compare.run import missing_frameworks
    from mindport.config import ConfigError
    from mindport.reports.compare import compare_lines, compare_object, to_json

    mode = options["mode"]
    try:
        config = configured(Path.cwd(), {"language": options["language"]})
        job = Job(
            read_side(original, options["arguments"], options["kwargs"]),
            read_side(
                port,
                options["port_args"] or options["arguments"],
                options["port_kwargs"] or options["kwargs"],
            ),
            tuple(read_input(text) for text in options["inputs"]),
            options["tolerance"],
            options["grad_tolerance"],
            ("pynative", "graph") if mode == "both" else (mode,),
            options["seed"],
            options["as_built"],
            not options["no_grad_check"],
        )
        missing = missing_frameworks()
        if missing:
            raise JobError(f"needs {', '.join(missing)}: pip install 'mindport[compare]'")
        verdict, versions = run(job)
    except (JobError, ConfigError) as error:
        stop(str(error))
    if options["output_format"] == "json":
        click.echo(to_json(compare_object(verdict, versions, job.tolerance, job.grad_tolerance)))
    else:
        for line in compare_lines(
            verdict, config.language, job.tolerance, job.grad_tolerance, options["everything"]
        ):
            click.echo(line)
    sys.exit(2 if verdict.errors else 0 if verdict.passed else 1)
