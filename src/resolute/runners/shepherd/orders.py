"""What a shepherd is told, by signal: SIGTERM is passed on to the gang, SIGUSR2 kills it."""

import contextlib
import os
import signal

FORCE_SIGNAL = signal.SIGUSR2
ORDERS = (signal.SIGTERM, FORCE_SIGNAL)


def reset_signals() -> None:
    """As a process has them that was just executed."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGUSR2, signal.SIGCHLD, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


class Stopped(Exception):
    """The gang was told to end before its entrypoint ran."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


class Orders:
    """Signals as bytes in a pipe, so that one `select` waits for output, children and orders alike."""

    def __init__(self) -> None:
        self.wakeups, writer = os.pipe()
        for descriptor in (self.wakeups, writer):
            os.set_blocking(descriptor, False)
        self._received: list[int] = []
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in ORDERS:
            signal.signal(number, lambda number, _frame: self._received.append(number))
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            # Not SIG_IGN, which processes that are executed from here would inherit.
            signal.signal(number, lambda _number, _frame: None)

    def take(self) -> list[int]:
        """Signals to send to the gang: those received since the last call, as what they mean for it."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.wakeups, 4096):
                pass
        received, self._received = self._received, []
        return [signal.SIGKILL if number == FORCE_SIGNAL else number for number in received]

    def check(self) -> None:
        """Raise Stopped when there was an order to end."""
        for number in self.take():
            raise Stopped(number)
