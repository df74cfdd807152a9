"""GPUs through NVML, by NVIDIA's own binding ``nvidia-ml-py`` (extra ``gpu``).

NVML sees memory that is allocated, not how full a KV pool is: engines reserve the pool at start.
"""

from __future__ import annotations

import ctypes
import importlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from threading import Event
from typing import Any

from monitor.clock import Clock
from monitor.conventions.gpu import OTHER, DriverState, GpuState, Quantity, Unread
from monitor.errors import UsageError
from monitor.gpu import codes
from monitor.gpu.hardware import has_gpu
from monitor.gpu.naming import MOST_XID_SERIES, ProcessNames, cleaned
from monitor.gpu.nvml_device import NvmlDevice, WholeGpuError, answered
from monitor.gpu.record import GpuReading, GpusReading

MOST_GPUS = 64
# How long one call waits for an event: so soon a stop is seen.
_LISTEN_SECONDS = 0.25


def installed() -> bool:
    """True if the binding is there."""
    return find_spec("pynvml") is not None


def binding() -> Any:
    """Return the binding's module. Raises ``UsageError`` if its extra is not installed."""
    if not installed():
        msg = "reading GPUs needs davylamp[gpu], which is not installed"
        raise UsageError(f"{msg} (pip install 'davylamp[gpu]', or read a DCGM exporter)")
    return importlib.import_module("pynvml")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identity:
    """A GPU that was once seen, and goes by ``gpu`` for as long as we run."""

    gpu: str
    index: int
    uuid: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """What NVML lists at an index: a handle with its names, or the code it was refused with."""

    index: int
    handle: Any = None
    code: int = 0
    uuid: str = ""
    name: str = ""


@dataclass(slots=True, kw_only=True)
class _Session:
    """NVML as it was opened: handles by GPU, those that gave none, and what is listened to."""

    driver: str
    handles: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)
    events: Any = None
    silent: dict[str, Unread] = field(default_factory=dict)


class NvmlSource:
    """Reads NVML, opened anew after anything that puts it in doubt: a GPU may come back.

    ``expected`` says that there must be GPUs. Without that a machine may have none: it is one
    whose driver lists none or is not there, whose kernel shows none, and that never had one while
    we ran.
    """

    def __init__(
        self,
        clock: Clock,
        nvml: Any | None = None,
        *,
        expected: bool = False,
        hardware: Callable[[], bool | None] = has_gpu,
    ) -> None:
        self._clock = clock
        self._nvml = binding() if nvml is None else nvml
        self._expected = expected
        self._hardware = hardware
        self._names = ProcessNames()
        self._known: dict[str, _Identity] = {}
        self._xids: Counter[tuple[str, int]] = Counter()
        self._session: _Session | None = None
        self._in_doubt = False

    def read(self) -> GpusReading:
        """Return what every GPU that was ever seen says now."""
        if self._in_doubt:
            self.close()
        try:
            session = self._session = self._session or self._open()
        except self._nvml.NVMLError as error:
            return self._without_driver(int(error.value))
        gpus = tuple(self._read_one(session, each) for each in self._in_order())
        self._in_doubt = not gpus or any(each.state is not GpuState.OK for each in gpus)
        state, why = (DriverState.OK, "") if gpus else self._none_listed()
        return GpusReading(
            read_at=self._clock.now(),
            driver_state=state,
            why=why,
            driver=session.driver,
            gpus=gpus,
            xids=dict(self._xids),
        )

    def wait(self, seconds: float, stopping: Event) -> None:
        """Count the errors that the driver reports meanwhile."""
        until = self._clock.monotonic() + seconds
        while not stopping.is_set() and (left := until - self._clock.monotonic()) > 0:
            if not self._listen(min(left, _LISTEN_SECONDS)):
                stopping.wait(left)

    def close(self) -> None:
        """Stop listening, and let go of the driver."""
        session, self._session, self._in_doubt = self._session, None, False
        if session is None:
            return
        if session.events is not None:
            self._quietly(lambda: self._nvml.nvmlEventSetFree(session.events))
        self._quietly(self._nvml.nvmlShutdown)

    def _listen(self, seconds: float) -> bool:
        """Wait for one event; false if nothing can be listened to."""
        session = self._session
        if session is None or session.events is None:
            return False
        milliseconds = max(1, round(seconds * 1000))
        try:
            event = self._nvml.nvmlEventSetWait_v2(session.events, milliseconds)
        except self._nvml.NVMLError as error:
            if int(error.value) == codes.TIMEOUT:
                return True
            # The set is of no more use; the next reading opens another.
            session.events, self._in_doubt = None, True
            return False
        self._count(session, event)
        return True

    def _count(self, session: _Session, event: Any) -> None:
        address = _address(event.device)
        gpus = (gpu for gpu, handle in session.handles.items() if _address(handle) == address)
        key = (next(gpus, OTHER), int(event.eventData))
        if key in self._xids or len(self._xids) < MOST_XID_SERIES:
            self._xids[key] += 1

    def _open(self) -> _Session:
        """Initialise NVML and find its GPUs. Raises the binding's error if it cannot be used."""
        self._nvml.nvmlInit()
        session = _Session(driver="")
        self._session = session  # so that closing lets go of it, whatever comes
        try:
            count = min(int(self._nvml.nvmlDeviceGetCount()), MOST_GPUS)
        except self._nvml.NVMLError:
            self.close()
            raise
        driver, _ = self._answered(self._nvml.nvmlSystemGetDriverVersion)
        session.driver = cleaned(driver or "")
        self._recognise(session, [self._listed(index) for index in range(count)])
        self._listen_to_all(session)
        return session

    def _listed(self, index: int) -> _Listed:
        nvml = self._nvml
        handle, code = self._answered(lambda: nvml.nvmlDeviceGetHandleByIndex(index))
        if handle is None:
            return _Listed(index=index, code=code)
        uuid, _ = self._answered(lambda: nvml.nvmlDeviceGetUUID(handle))
        name, _ = self._answered(lambda: nvml.nvmlDeviceGetName(handle))
        return _Listed(
            index=index, handle=handle, uuid=cleaned(uuid or ""), name=cleaned(name or "")
        )

    def _recognise(self, session: _Session, listed: Sequence[_Listed]) -> None:
        """Note what each GPU goes by.

        One with a name is known by it. One without (a GPU that is lost often gives a handle and no
        name) is the one last seen at its index, or one that nothing else answers for; only then is
        it a new one. Otherwise one GPU would be two, and the second of them lost for ever.
        """
        for each in listed:
            if each.uuid:
                # One that gave no name before keeps its label.
                at = each.uuid if each.uuid in self._known else f"index-{each.index}"
                self._note(session, each, self._known.pop(at, None))
        strange = []
        for each in listed:
            if not each.uuid:
                key = self._unanswered(session, each.index)
                if key is None:
                    strange.append(each)
                else:
                    self._note(session, each, self._known[key])
        for each in strange:
            key = self._unanswered(session, None)
            self._note(session, each, None if key is None else self._known[key])

    def _unanswered(self, session: _Session, index: int | None) -> str | None:
        """Return the key of a known GPU that nothing answers for yet: at an index, or anywhere."""
        taken = session.handles.keys() | session.refused.keys()
        return next(
            (
                key
                # What was noted last was seen there last.
                for key, each in reversed(self._known.items())
                if each.gpu not in taken and index in {None, each.index}
            ),
            None,
        )

    def _note(self, session: _Session, listed: _Listed, known: _Identity | None) -> None:
        if known is None:
            known = _Identity(gpu=self._free_label(listed.index), index=listed.index)
        uuid, name = listed.uuid or known.uuid, listed.name or known.name
        noted = replace(known, index=listed.index, uuid=uuid, name=name)
        self._known = {key: each for key, each in self._known.items() if each.gpu != noted.gpu}
        self._known[uuid or f"index-{listed.index}"] = noted
        if listed.handle is None:
            session.refused[noted.gpu] = listed.code
            return
        session.handles[noted.gpu] = listed.handle
        if not listed.uuid:
            session.unnamed.add(noted.gpu)

    def _in_order(self) -> list[_Identity]:
        return sorted(self._known.values(), key=lambda each: int(each.gpu))

    def _free_label(self, index: int) -> str:
        """Return the index as a label, or the next number that no other GPU goes by."""
        taken = {each.gpu for each in self._known.values()}
        return next(str(number) for number in range(index, 100_000) if str(number) not in taken)

    def _listen_to_all(self, session: _Session) -> None:
        nvml = self._nvml
        events, code = self._answered(nvml.nvmlEventSetCreate)
        if events is None:
            session.silent = dict.fromkeys(session.handles, codes.unread(code))
            return
        for gpu, handle in session.handles.items():
            code = self._registered(handle, events)
            if code:
                session.silent[gpu] = codes.unread(code)
        if len(session.silent) == len(session.handles):
            self._quietly(lambda: nvml.nvmlEventSetFree(events))
            return
        session.events = events

    def _registered(self, handle: Any, events: Any) -> int:
        kind = self._nvml.nvmlEventTypeXidCriticalError
        return self._quietly(lambda: self._nvml.nvmlDeviceRegisterEvents(handle, kind, events))

    def _read_one(self, session: _Session, known: _Identity) -> GpuReading:
        handle = session.handles.get(known.gpu)
        if handle is None:
            code = session.refused.get(known.gpu, codes.GPU_NOT_FOUND)
            return GpuReading(
                gpu=known.gpu,
                state=codes.gpu_state(code),
                error_code=code,
                uuid=known.uuid,
                name=known.name,
            )
        silent = {Quantity.XID: session.silent[known.gpu]} if known.gpu in session.silent else {}
        if known.gpu in session.unnamed:
            silent[Quantity.IDENTITY] = Unread.FAILED
        device = NvmlDevice(self._nvml, handle, self._names)
        return device.read(known.gpu, known.uuid, known.name, silent)

    def _without_driver(self, code: int) -> GpusReading:
        """Return that nothing can be read: every GPU that was once seen is failed, none forgot."""
        self._session = None
        state = GpuState.LOST if code in codes.WHOLE else GpuState.FAILED
        gpus = tuple(
            GpuReading(gpu=each.gpu, state=state, error_code=code, uuid=each.uuid, name=each.name)
            for each in self._in_order()
        )
        driver_state, why = codes.driver_state(code), ""
        if driver_state is DriverState.NO_LIBRARY and self._may_have_none(known=False):
            driver_state, why = DriverState.NO_GPU, "no library, and the kernel shows no GPU"
        return GpusReading(
            read_at=self._clock.now(),
            driver_state=driver_state,
            error_code=code,
            why=why,
            gpus=gpus,
            xids=dict(self._xids),
        )

    def _none_listed(self) -> tuple[DriverState, str]:
        """Return what it means that the driver answers and lists no GPU, nor ever did."""
        if self._may_have_none(known=True):
            return DriverState.NO_GPU, "the driver lists none"
        return DriverState.FAILED, "the driver lists no GPU, and there must be one"

    def _may_have_none(self, *, known: bool) -> bool:
        """True if nothing says that there is or was a GPU.

        Where the kernel does not show its bus, only a driver that answers is ``known`` to be right.
        """
        if self._expected or self._known:
            return False
        shown = self._hardware()
        return shown is False or (shown is None and known)

    def _answered(self, call: Callable[[], Any]) -> tuple[Any, int]:
        try:
            return answered(self._nvml, call)
        except WholeGpuError as error:
            return None, error.code

    def _quietly(self, call: Callable[[], Any]) -> int:
        """Call what has nothing to say; return the code it was refused with, or 0."""
        return self._answered(call)[1]


def _address(handle: Any) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value
