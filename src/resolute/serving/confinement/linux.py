"""Rights that a process of Linux gives up for good: capabilities, files (Landlock), system calls (seccomp).

Called by number through the C library. Each raises OSError where the kernel does not offer it.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Iterable

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 38, 24
_LAST_CAPABILITY = 63


def no_new_privileges() -> None:
    """No program that it starts gets more rights than it has."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def drop_capabilities() -> None:
    """What root may do beyond others: read anybody's files, change the network, trace processes ..."""
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) and ctypes.get_errno() != 22:
            break
    header = struct.pack("=Ii", 0x20080522, 0)
    _check(_libc.syscall(_number("capset"), header, struct.pack("=6I", *[0] * 6)))


# ------------------------------------------------------------------------------------------------------- Landlock

_READ_FILE, _READ_DIR, _EXECUTE = 1 << 2, 1 << 3, 1 << 0
_WRITE_FILE, _TRUNCATE, _IOCTL = 1 << 1, 1 << 14, 1 << 15
_READS = _READ_FILE | _READ_DIR | _EXECUTE
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_KNOWN_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Rights that each version of the interface knows."""
_ITSELF = ("/proc/self",)
"""Drivers of graphics cards name their threads there."""
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
_CREATE, _ADD, _RESTRICT = 444, 445, 446


def landlock_version() -> int:
    """0: the kernel has none."""
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def restrict_files(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> None:
    """Only these can be opened from now on; processes outside can be neither signalled nor looked into."""
    version = landlock_version()
    if not version:
        raise OSError(38, "the kernel has no Landlock")
    every = _KNOWN_FILES[min(version, max(_KNOWN_FILES))]
    attributes = struct.pack("=Q", every)
    if version >= _NETWORK_SINCE:
        attributes += struct.pack("=Q", 0)
    if version >= _SCOPES_SINCE:
        attributes += struct.pack("=Q", 3)
    ruleset = _check(_libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)))
    try:
        granted = [(readable, _READS), (writable, every), (devices, _OF_FILES & ~_EXECUTE)]
        for places, rights in [*granted, (_ITSELF, _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE)]:
            for place in places:
                _allow(ruleset, place, rights & every)
        _check(_libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, place: str, rights: int) -> None:
    try:
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(place):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, opened)
        _check(_libc.syscall(_ADD, ruleset, ctypes.c_int(1), rule, ctypes.c_uint32(0)))
    finally:
        os.close(opened)


# -------------------------------------------------------------------------------------------------------- seccomp

_NUMBERS = {
    # name: (x86_64, aarch64)
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_settime": (227, 112),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "move_mount": (429, 429),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
_OTHER_FAMILIES = "socket"
_NOT_FILTERED = frozenset({"capset", _OTHER_FAMILIES})
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_NR, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_CLONE = (56, 220)
_CLONE3 = 435
_NEW_NAMESPACES = 0x7E020000
_X32 = 0x40000000
_UNIX = 1


def restrict_calls() -> None:
    """Nothing that reaches into the kernel, other processes or namespaces; of sockets only those of this machine, and
    those cannot be connected to others. Drivers of graphics cards listen on one."""
    column, architecture = _machine()
    program = _program(column, architecture)
    code = ctypes.create_string_buffer(b"".join(program))
    described = struct.pack("@HxxxxxxP", len(program), ctypes.addressof(code))
    # 1: a filter; 1: for every thread that is there.
    _check(_libc.syscall(317 if column == 0 else 277, ctypes.c_uint(1), ctypes.c_uint(1), described))


def _program(column: int, architecture: int) -> list[bytes]:
    refuse = [_one(_RETURN, _ERROR | _EPERM)]
    lines = [_one(_LOAD, _ARCH), _one(_EQUAL, architecture, 1, 0), *refuse, _one(_LOAD, _NR)]
    if column == 0:
        lines += [_one(_AT_LEAST, _X32, 0, 1), *refuse]
    for name, numbers in _NUMBERS.items():
        number = numbers[column]
        if number is not None and name not in _NOT_FILTERED:
            error = _EACCES if name == "connect" else _EPERM
            lines += [_one(_EQUAL, number, 0, 1), _one(_RETURN, _ERROR | error)]
    # The C library falls back to clone, whose flags can be looked at.
    lines += [_one(_EQUAL, _CLONE3, 0, 1), _one(_RETURN, _ERROR | _ENOSYS)]
    lines += [_one(_EQUAL, _CLONE[column], 0, 3), _one(_LOAD, _FIRST_ARGUMENT), _one(_ANY_OF, _NEW_NAMESPACES, 0, 1)]
    lines += [*refuse, _one(_LOAD, _NR)]
    socket = _NUMBERS[_OTHER_FAMILIES][column]
    lines += [_one(_EQUAL, socket or 0, 0, 3), _one(_LOAD, _FIRST_ARGUMENT), _one(_EQUAL, _UNIX, 1, 0)]
    lines += [_one(_RETURN, _ERROR | _EACCES), _one(_RETURN, _ALLOW)]
    return lines


def _one(code: int, value: int, is_so: int = 0, is_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, is_so, is_not, value)


def _machine() -> tuple[int, int]:
    found = _MACHINES.get(platform.machine())
    if found is None or struct.calcsize("P") != 8:
        raise OSError(38, f"no filter is known for {platform.machine()}")
    return found


def _number(name: str) -> int:
    column, _ = _machine()
    return _NUMBERS[name][column] or -1


def _check(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)
