"""The way in and out: every end of a command, good or bad, is turned into its exit code here.

Nothing is imported before `main` runs, so that Ctrl-C is quiet from the first moment on.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
QUERY_INTERRUPTED = "Query interrupted"  # how DuckDB says that Ctrl-C was pressed while it worked


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    Args:
        arguments: the words after ``hetdp``; by default those the program was started with.
    """
    try:
        if arguments is None:
            _clean_up_when_told_to_end()
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt as interrupt:
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\n")  # the prompt should not stand behind ^C
        if interrupt.args and isinstance(interrupt.args[0], str):  # what is known of a spend
            from hetdp.cli.voice import complain

            complain(f"hetdp: interrupted; {interrupt.args[0]}.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        from hetdp.cli.voice import abandon_output

        abandon_output()
        return 0


def _clean_up_when_told_to_end() -> None:
    """Lets a hangup or a polite kill end the program as Ctrl-C does, so that no half of a file is left behind."""
    import signal

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:  # not under nohup
            signal.signal(getattr(signal, name), signal.default_int_handler)


def _run(arguments: list[str]) -> int:
    try:
        from hetdp.cli.group import run
        from hetdp.cli.voice import finish, speak_utf_8

        speak_utf_8()
        code = run(arguments)
        finish()
        return code
    except BrokenPipeError:
        raise
    except Exception as error:
        if str(error) == QUERY_INTERRUPTED:
            raise KeyboardInterrupt from None
        from hetdp.cli.failure import report

        return report(error, arguments)


if __name__ == "__main__":
    sys.exit(main())
