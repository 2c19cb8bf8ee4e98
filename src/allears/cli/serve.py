"""`allears serve`: the listener for other programs, and for other people."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from allears.cli.output import errors
from allears.cli.progress import watched
from allears.errors import AllearsError


def serve(
    *,
    host: str = typer.Option("127.0.0.1", "--host", help="Where to listen. Any other address needs a token."),
    port: int = typer.Option(8377, "--port", min=0, max=65535, help="0 takes a free one."),
    token: list[str] = typer.Option(
        [],
        "--token",
        envvar="ALLEARS_TOKEN",
        help="An access token; each is one person.",
        show_default=False,
    ),
    token_file: Path | None = typer.Option(
        None,
        "--token-file",
        help="A file with a token a line, which no process list shows.",
        show_default=False,
    ),
    metrics_token: str | None = typer.Option(
        None,
        "--metrics-token",
        envvar="ALLEARS_METRICS_TOKEN",
        help="Opens /api/metrics.",
        show_default=False,
    ),
    salt: str = typer.Option(
        "",
        "--salt",
        envvar="ALLEARS_SALT",
        help="Goes into people's ids: the same on each start.",
        show_default=False,
    ),
    database: str | None = typer.Option(
        None,
        "--database",
        envvar="ALLEARS_DATABASE",
        help="A file or postgresql://... Default: a file in your data folder.",
        show_default=False,
    ),
    allow_host: list[str] = typer.Option(
        [], "--allow-host", help="A name this server answers to; may be given several times."
    ),
    origin: list[str] = typer.Option(
        [], "--origin", help="A web page elsewhere that may use this server, as https://example.org."
    ),
    batching: bool = typer.Option(True, "--batching/--no-batching", help="Answer people together."),
    batch_size: int = typer.Option(16, "--batch-size", min=1, help="How many messages at most."),
    rate: float = typer.Option(
        5.0, "--rate", min=0.01, help="Requests a second and person, in the long run."
    ),
    burst: int = typer.Option(60, "--burst", min=1, help="Requests at once and person."),
    bundle: str = typer.Option("default", "--bundle", help="A bundle folder, or `default`."),
    pool: list[Path] = typer.Option([], "--pool", help="Replies of your own beside the shipped ones."),
    country: str | None = typer.Option(
        None, "--country", help="Whose help lines to name, as in GB.", show_default=False
    ),
    voice: list[str] = typer.Option(
        [],
        "--voice",
        help="Who answers: default, retrieval, smollm2, remote, or a generator's run folder. May be given several "
        "times, for people to choose from; the first is the default.",
        show_default=False,
    ),
    ray: bool = typer.Option(False, "--ray", help="Many replicas behind Ray Serve; needs PostgreSQL."),
    replicas: int = typer.Option(2, "--replicas", min=1, help="How many, with --ray."),
    quiet: bool = typer.Option(False, "--quiet", help="Log only what goes wrong."),
) -> None:
    """Serve conversations over HTTP, WebSocket and OpenAI's protocol. Only this machine can reach them by default.

    \b
    allears serve
    allears serve --host 0.0.0.0 --token-file tokens.txt --database postgresql://localhost/allears
    allears serve --voice default --voice retrieval --voice runs/pal
    allears serve --ray --replicas 4 --database postgresql://localhost/allears
    """
    from allears.memory import Memory
    from allears.serve.app import create_app
    from allears.serve.loading import shipped_voices
    from allears.serve.run import address, listen, log_to_standard_error, run
    from allears.serve.settings import ServerSettings

    settings = ServerSettings(
        host=host,
        port=port,
        tokens=(*token, *_tokens_in(token_file)),
        metrics_token=metrics_token,
        salt=salt,
        hosts=tuple(allow_host),
        origins=tuple(origin),
        batching=batching,
        batch_size=batch_size,
        rate=rate,
        burst=burst,
    )
    log_to_standard_error(quiet=quiet)
    load = partial(shipped_voices, bundle, tuple(map(str, pool)), country, tuple(voice))
    if ray:
        from allears.serve.ray import serve_with_ray

        serve_with_ray(load, settings, database, replicas, say=_say)
        return
    with listen(settings) as opened, Memory(database) as memory:
        app = create_app(load(watch=watched), memory, settings)
        who = f"{len(settings.tokens)} people's tokens" if settings.tokens else "this machine only"
        _say(f"listening on {address(opened)} ({who}); conversations in {memory.place}")
        run(app, settings, opened)


def _tokens_in(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AllearsError(f"{file}: cannot read the tokens; expected a text file with one a line") from error
    tokens = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not tokens:
        raise AllearsError(f"{file}: there is no token in it; write one a line")
    return tokens


def _say(text: str) -> None:
    errors.print(text, markup=False, highlight=False, soft_wrap=True)
