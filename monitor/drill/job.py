"""One run to do, as it is handed to a worker."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

HEALTHY = "healthy"


class Job(BaseModel):
    """One fault or null with one seed. A ``whole`` run goes on after its first detection."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: str
    seed: int
    null: bool
    profile: str
    context_tokens: int
    whole: bool

    @property
    def target(self) -> str:
        """The name of the run's target, its own in the whole store."""
        return f"{self.fault}-{self.seed}".replace("_", "-")

    def lab_arguments(self) -> list[str]:
        """Return how the lab of this run is started; parameters are drawn by the seed."""
        arguments = ["--seed", str(self.seed), "--context", str(self.context_tokens)]
        if self.fault == HEALTHY:
            return arguments
        return ["--fault", self.fault, "--draw", *arguments]
