"""The shot's flight and the toppling of soldiers, as rigid bodies in MuJoCo.

Theory of operation
-------------------
A model is built for one shot and lives until everything is at rest. Drag acts as a force on the shot at every
step, since MuJoCo's own fluid models do not reproduce a constant drag coefficient. The shot's contact is a stiff
spring with a damper that gives the wanted restitution; it needs about eight steps over a bounce, or the bounce
gains energy. So the step is fine only while the shot is fast and something is within its reach, and coarse else;
once the shot is slow its spring is made softer by as much as the step is longer. Bodies at rest sleep. The steps
follow from the state alone, never from when somebody looks, so the outcome does not depend on the camera.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from twin import soldier
from twin.contacts import BOARD, EDGE, SHOT, ContactLog
from twin.limits import above, within

GRAVITY_MPS2 = 9.81
FALLEN_RAD = math.radians(45.0)
"""A soldier that leans more than this has fallen."""

_STEPS_PER_BOUNCE = 8
_FAST_BOUNCE_S = 160e-6
"""How long a bounce of the fast shot takes; real ones are shorter still, the fall of a soldier does not see it."""
_SLOW_BOUNCE_S = 1.28e-3
_MOST_DAMPING = 0.7
"""Damping ratio of the deadest bounce, restitution 0.2."""
_SLOW_MPS = 1.2
"""Below this speed the shot bounces softly; its dent stays under a tenth of its diameter."""
_STIFF_AGAIN_MPS = 1.5
_PARKED_REF = (0.02, 1.0)
_COARSE_STEP_S = 200e-6
_FLIGHT_STEP_S = 100e-6
_PATH_STEP_S = 100e-6
"""The shot's path is kept this densely."""
_BRUSH_S = 0.3
"""A sleeve brushes over a soldier for so long at most."""
_CALM_CHECK_S = 10e-3
_CALM_S = 0.2
"""So long must everything be all but still to be called at rest."""
_CALM_SHOT_MPS = 2e-3
_CALM_SOLDIER_MPS = 2e-3
_CALM_SOLDIER_RADPS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotSettings:
    """The shot itself, and how it bounces."""

    diameter_mm: float = 6.0
    """Its diameter."""
    mass_g: float = 0.12
    """Its mass."""
    drag_coefficient: float = 0.45
    """Constant drag coefficient of a sphere at these speeds."""
    air_density_kgpm3: float = 1.2
    """Density of the air."""
    restitution: float = 0.62
    """Speed after a square bounce over speed before."""
    friction: float = 0.30
    """Sliding friction of the shot on anything."""
    rolling_friction_mm: float = 0.06
    """Lever arm of the rolling resistance."""

    def __post_init__(self) -> None:
        within(self, 0.5, 100, "diameter_mm")
        within(self, 0.001, 1000, "mass_g")
        within(self, 0, 100, "drag_coefficient", "air_density_kgpm3")
        within(self, 0, 10, "friction", "rolling_friction_mm")
        within(self, 0.2, 1, "restitution")


@dataclass(frozen=True, slots=True, kw_only=True)
class BodySettings:
    """Soldiers and board as bodies."""

    soldier_height_mm: float = 42.0
    """From the table to the top of the helmet."""
    soldier_mass_g: float = 2.4
    """Mass of one soldier."""
    soldier_friction: float = 0.45
    """Sliding friction of soldiers; of two that touch, the larger counts."""
    build: soldier.Build = soldier.USUAL
    """How the figures are made."""
    board_friction: float = 0.50
    """Sliding friction of board and table."""
    board_thickness_mm: float = 5.0
    """The table beside the board lies this much lower."""
    leaves_at_mm: float = 300.0
    """The shot is gone once it is down on the table farther than this from the board."""
    settle_limit_s: float = 6.0
    """Everything counts as at rest so long after the release at the latest."""

    def __post_init__(self) -> None:
        within(self, 5, 500, "soldier_height_mm")
        above(self, 0, "settle_limit_s")
        within(self, 0.001, 10_000, "soldier_mass_g")
        within(self, 0, 10_000, "leaves_at_mm")
        within(self, 0, 60, "settle_limit_s")
        within(self, 0, 10, "soldier_friction", "board_friction")
        within(self, 0.1, 100, "board_thickness_mm")


# MuJoCo would write its warnings to a file in the working directory.
mujoco.set_mju_user_warning(logging.getLogger(__name__).warning)


class PhysicsError(RuntimeError):
    """The physics gave no sound answer; settings far from a real table can do that."""


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle of the board frame, in m."""

    x0_m: float
    y0_m: float
    x1_m: float
    y1_m: float

    def distance_m(self, x_m: float, y_m: float) -> float:
        """Return how far a point lies outside, 0 inside."""
        return math.hypot(
            max(self.x0_m - x_m, 0.0, x_m - self.x1_m), max(self.y0_m - y_m, 0.0, y_m - self.y1_m)
        )


def contact_solref(bounce_s: float, restitution: float) -> tuple[float, float]:
    """Return MuJoCo's direct (-stiffness, -damping) for a bounce of a given length and restitution.

    A mass that leaves a damped spring as soon as the spring would pull keeps
    ``exp(-z/w (pi - atan2(2 z w, w^2 - z^2)))`` of its speed, where z is the damping ratio and w = sqrt(1 - z^2)
    (Schwager and Pöschel, Granular Matter 9, 2007). The ratio is found by halving.
    """
    low, high = 0.0, _MOST_DAMPING
    for _ in range(40):
        ratio = (low + high) / 2
        if _restitution(ratio)[0] > restitution:
            low = ratio
        else:
            high = ratio
    omega = _restitution(ratio)[1] / bounce_s
    return -(omega**2), -2.0 * ratio * omega


def _restitution(ratio: float) -> tuple[float, float]:
    """Return restitution and contact time (in units of 1/omega) of a damping ratio below 1/sqrt(2)."""
    damped = math.sqrt(1.0 - ratio**2)
    phase = math.pi - math.atan2(2 * ratio * damped, damped**2 - ratio**2)
    return math.exp(-ratio / damped * phase), phase / damped


class ShotRun:
    """One shot, from the muzzle until everything is at rest.

    Parameters
    ----------
    bodies, shot : BodySettings, ShotSettings
        What moves.
    surface : Box
        The playing surface with its strips.
    poses : (n, 7) array
        Soldiers: position in m and quaternion (w, x, y, z), board frame.
    stances : sequence of int
        The stance of each soldier.
    muzzle_m, velocity_mps : (3,) array
        Where the shot leaves and how fast, board frame.
    brush : (int, float), optional
        Index of the soldier that a sleeve brushes over, and from when on: seconds since the release.
    """

    def __init__(
        self,
        *,
        bodies: BodySettings,
        shot: ShotSettings,
        surface: Box,
        poses: NDArray[np.float64],
        stances: Sequence[int],
        muzzle_m: NDArray[np.float64],
        velocity_mps: NDArray[np.float64],
        brush: tuple[int, float] | None = None,
    ) -> None:
        self._bodies = bodies
        self._brush = brush
        self._surface = surface
        self._radius_m = shot.diameter_mm / 2e3
        self._floor_m = -bodies.board_thickness_mm / 1e3
        self._drag_kgpm = 0.5 * shot.air_density_kgpm3 * shot.drag_coefficient * math.pi * self._radius_m**2
        self._fast_ref = contact_solref(_FAST_BOUNCE_S, shot.restitution)
        self._slow_ref = contact_solref(_SLOW_BOUNCE_S, shot.restitution)
        self._reach_m = (
            0.5 * bodies.soldier_height_mm / 1e3 * math.hypot(1.0, 2 * soldier.REACH) + self._radius_m
        )

        model = mujoco.MjModel.from_xml_string(_model_xml(bodies, shot, surface, poses, stances))
        data = mujoco.MjData(model)
        self._model: Any = model
        self._data: Any = data
        count = len(stances)
        self.count = count
        soldiers = [model.body(f"soldier-{index}") for index in range(count)]
        self._soldier_bodies = np.array([body.id for body in soldiers], dtype=np.intp)
        self._shot_body = model.body("shot").id
        self._shot_geom = model.geom("shot").id
        joint = model.joint("shot")
        self._shot_qpos = int(joint.qposadr[0])
        self._shot_dof = int(joint.dofadr[0])
        data.qpos[self._shot_qpos : self._shot_qpos + 7] = [*muzzle_m, 1.0, 0.0, 0.0, 0.0]
        # The integrator moves with the velocity after each step: half a step back makes it a leapfrog, second order.
        speed_mps = float(np.linalg.norm(velocity_mps))
        drag_mps2 = self._drag_kgpm * speed_mps * velocity_mps / (shot.mass_g / 1e3)
        lead_mps = 0.5 * _FLIGHT_STEP_S * (np.array([0.0, 0.0, GRAVITY_MPS2]) + drag_mps2)
        data.qvel[self._shot_dof : self._shot_dof + 3] = velocity_mps + lead_mps
        self._party = _parties(model, count)
        self._logged = _logged(self._party)
        # What is looked at in every step, as views of MuJoCo's own arrays: asking for them costs more than a small step.
        # Soldiers are there one behind the other, as in the model's text.
        self._place = data.qpos[self._shot_qpos : self._shot_qpos + 3]
        self._velocity = data.qvel[self._shot_dof : self._shot_dof + 3]
        self._drag = data.xfrc_applied[self._shot_body, :3]
        first = self._soldier_bodies[0] if count else 0
        self._upright = data.xmat[first : first + count, 8]
        self._soldier_places = data.xpos[first : first + count]
        self._soldier_axes = data.xmat[first : first + count, 2::3]
        mujoco.mj_forward(model, data)

        self.log = ContactLog()
        self.path: list[tuple[float, float, float, float]] = [
            (0.0, float(muzzle_m[0]), float(muzzle_m[1]), float(muzzle_m[2]))
        ]
        """The shot's centre: seconds since the release, then x, y, z in m."""
        self.fell_at_s: dict[int, float] = {}
        """When each soldier that leans more than 45 degrees passed that angle."""
        self._leaning = bytes(count)
        self.shot_gone = False
        self.at_rest = False
        self._calm_since_s: float | None = None
        self._next_check_s = _CALM_CHECK_S
        self._free_steps = 0
        self._soft = False
        self._touching_s = 0.0
        """How long the shot has been touching something; its spring is not exchanged in the middle of a bounce."""

    @property
    def now_s(self) -> float:
        """Seconds since the release."""
        return float(self._data.time)

    @property
    def shot_m(self) -> NDArray[np.float64]:
        """The shot's centre, board frame."""
        return np.array(self._place)

    @property
    def shot_mps(self) -> NDArray[np.float64]:
        """The shot's velocity, board frame."""
        return np.array(self._velocity)

    @property
    def poses(self) -> NDArray[np.float64]:
        """Positions in m and quaternions of all soldiers, (n, 7)."""
        return np.hstack([self._soldier_places, self._data.xquat[self._soldier_bodies]])

    @property
    def tilt_rad(self) -> NDArray[np.float64]:
        """How far each soldier leans from upright, (n,)."""
        tilt: NDArray[np.float64] = np.arccos(np.clip(self._upright, -1.0, 1.0))
        return tilt

    def advance(self, to_s: float) -> None:
        """Step until `to_s` seconds after the release, or until everything is at rest."""
        while self._data.time < to_s and not self.at_rest:
            self._step()

    def _step(self) -> None:
        model, data = self._model, self._data
        velocity = self._velocity
        speed_mps = math.sqrt(float(velocity @ velocity))
        if self._free_steps > 0:
            self._free_steps -= 1
        else:
            self._choose_step(speed_mps)
        np.multiply(velocity, -self._drag_kgpm * speed_mps, out=self._drag)
        if self._brush is not None:
            self._pull_at(*self._brush)
        before_s = data.time
        mujoco.mj_step(model, data)
        now_s = data.time
        if now_s <= before_s:
            # MuJoCo begins anew by itself after a number that is none, which must not pass for an outcome.
            raise PhysicsError(f"the physics became unstable {before_s:.4f} s after the release")
        touching = bool(data.ncon) and self._read_contacts()
        self._touching_s = self._touching_s + model.opt.timestep if touching else 0.0
        if not self.shot_gone:
            self._keep_path(now_s)
        if now_s >= self._next_check_s:
            self._next_check_s += _CALM_CHECK_S
            self._check_calm()
        self._watch_falls(now_s)

    def _pull_at(self, soldier_index: int, from_s: float) -> None:
        """Pull a soldier's head towards +x until it lies."""
        body = self._soldier_bodies[soldier_index]
        upright = float(self._data.xmat[body, 8])
        pulled = 0.0 <= self._data.time - from_s < _BRUSH_S and upright > math.cos(FALLEN_RAD)
        weight_nm = self._bodies.soldier_mass_g / 1e3 * GRAVITY_MPS2 * self._bodies.soldier_height_mm / 1e3
        self._data.xfrc_applied[body, 4] = 0.5 * weight_nm if pulled else 0.0

    def _choose_step(self, speed_mps: float) -> None:
        """Set the step from how fast the shot is and how near anything is."""
        if self.shot_gone:
            self._model.opt.timestep = _COARSE_STEP_S
            self._free_steps = 20
            return
        place = self._place
        soft = speed_mps < (_STIFF_AGAIN_MPS if self._soft else _SLOW_MPS)
        bouncing = 0.0 < self._touching_s < 2 * _SLOW_BOUNCE_S
        if soft is not self._soft and not bouncing:
            self._soft = soft
            self._model.geom_solref[self._shot_geom] = self._slow_ref if soft else self._fast_ref
        if self._soft:
            self._model.opt.timestep = _SLOW_BOUNCE_S / _STEPS_PER_BOUNCE
            return
        gap_m = float(place[2]) - self._radius_m
        if self._surface.distance_m(float(place[0]), float(place[1])) > self._radius_m:
            gap_m -= self._floor_m
        if self.count:
            middles = self._soldier_places + self._soldier_axes * (self._bodies.soldier_height_mm / 2e3)
            away = middles - place
            gap_m = min(gap_m, math.sqrt(float(np.einsum("ij,ij->i", away, away).min())) - self._reach_m)
        step_m = speed_mps * _FLIGHT_STEP_S
        if gap_m > 2 * step_m:
            self._model.opt.timestep = _FLIGHT_STEP_S
            self._free_steps = int(gap_m / (1.2 * step_m)) - 1
        else:
            self._model.opt.timestep = _FAST_BOUNCE_S / _STEPS_PER_BOUNCE
            self._free_steps = 4

    def _read_contacts(self) -> bool:
        """Log the touches of this step, and say whether the shot is in one."""
        model, data = self._model, self._data
        contact = data.contact
        geoms = contact.geom
        logged = self._logged[geoms[:, 0], geoms[:, 1]]
        if not logged.any():
            return False
        wanted = np.flatnonzero(logged & (contact.efc_address >= 0))
        force = np.zeros(6)
        x_m, y_m, z_m = self._place.tolist()
        shot_m = (x_m, y_m, z_m)
        by_shot = False
        for index in wanted.tolist():
            parties = self._party[geoms[index]].tolist()
            by_shot = by_shot or SHOT in parties
            mujoco.mj_contactForce(model, data, index, force)
            if force[0] <= 0.0:
                continue
            self.log.touch(
                *parties,
                at_s=data.time,
                impulse_ns=float(force[0]) * model.opt.timestep,
                shot_m=shot_m,
            )
        return by_shot

    def _keep_path(self, now_s: float) -> None:
        x_m, y_m, z_m = self._place.tolist()
        if now_s - self.path[-1][0] >= _PATH_STEP_S * 0.99:
            self.path.append((now_s, x_m, y_m, z_m))
        down = z_m <= self._floor_m + 1.05 * self._radius_m
        if down and self._surface.distance_m(x_m, y_m) * 1e3 > self._bodies.leaves_at_mm:
            self.shot_gone = True
            self.path.append((now_s, x_m, y_m, z_m))
            # It sleeps on far away, on a contact soft enough for the coarse step, and costs nothing any more.
            self._model.geom_solref[self._shot_geom] = _PARKED_REF
            self._place[:] = [90.0, 90.0, self._floor_m + self._radius_m]
            self._data.qvel[self._shot_dof : self._shot_dof + 6] = 0.0

    def _watch_falls(self, now_s: float) -> None:
        leaning = self._upright < math.cos(FALLEN_RAD)
        mask = leaning.tobytes()
        if mask == self._leaning:
            return
        self._leaning = mask
        for index in np.flatnonzero(leaning).tolist():
            self.fell_at_s.setdefault(index, now_s)
        for risen in [index for index in self.fell_at_s if not leaning[index]]:
            del self.fell_at_s[risen]

    def _check_calm(self) -> None:
        data = self._data
        if self._brush is not None and data.time < self._brush[1] + _BRUSH_S:
            return
        if data.time >= self._bodies.settle_limit_s or bool((data.tree_asleep >= 0).all()):
            self.at_rest = True
            return
        speeds = np.abs(data.qvel).reshape(-1, 6)
        start = self._shot_dof // 6
        others = np.delete(speeds, start, axis=0)
        calm = bool(
            (others[:, :3] < _CALM_SOLDIER_MPS).all()
            and (others[:, 3:] < _CALM_SOLDIER_RADPS).all()
            and (speeds[start, :3] < _CALM_SHOT_MPS).all()
        )
        if not calm:
            self._calm_since_s = None
        elif self._calm_since_s is None:
            self._calm_since_s = float(data.time)
        elif data.time - self._calm_since_s >= _CALM_S:
            self.at_rest = True


def _parties(model: Any, count: int) -> NDArray[np.int64]:
    """Return who each geometry belongs to, for the log of contacts."""
    party = np.full(model.ngeom, EDGE, dtype=np.int64)
    of_body = {model.body(f"soldier-{index}").id: index for index in range(count)}
    of_body[model.body("shot").id] = SHOT
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        if body in of_body:
            party[geom] = of_body[body]
    party[model.geom("board").id] = BOARD
    return party


def _logged(party: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return of which two geometries the log keeps touches: those of the shot, and between two soldiers."""
    one, other = party[:, None], party
    return np.asarray((one == SHOT) | (other == SHOT) | ((one >= 0) & (other >= 0) & (one != other)))


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _model_xml(
    bodies: BodySettings,
    shot: ShotSettings,
    surface: Box,
    poses: NDArray[np.float64],
    stances: Sequence[int],
) -> str:
    height_m = bodies.soldier_height_mm / 1e3
    soldiers = []
    for index, (stance, pose) in enumerate(zip(stances, poses, strict=True)):
        geoms = "\n".join(
            soldier.geom_xml(
                part,
                name=f"soldier-{index}-{part.name}",
                height_m=height_m,
                attributes=f'class="soldier" mass="{part.mass_share * bodies.soldier_mass_g / 1e3:.9f}"',
            )
            for part in soldier.parts(stance, bodies.build)
            if part.collides
        )
        soldiers.append(
            f'<body name="soldier-{index}" pos="{_text(pose[:3])}" quat="{_text(pose[3:])}" sleep="init">'
            f'<freejoint name="soldier-{index}"/>\n{geoms}\n</body>'
        )
    thickness_m = bodies.board_thickness_mm / 1e3
    half_x, half_y = (surface.x1_m - surface.x0_m) / 2, (surface.y1_m - surface.y0_m) / 2
    fast = contact_solref(_FAST_BOUNCE_S, shot.restitution)
    firm = 'solref="0.002 1" solimp="0.95 0.99 0.0002" condim="3"'
    # Arms and kit stop a lying soldier from rolling on as its round parts would.
    rolling = firm.replace('condim="3"', 'condim="6"')
    newline = "\n"
    return f"""<mujoco model="shot">
<compiler angle="radian" autolimits="true" inertiafromgeom="true"/>
<option timestep="{_FLIGHT_STEP_S}" gravity="0 0 -{GRAVITY_MPS2}" integrator="implicitfast" cone="elliptic"
 solver="Newton" iterations="50" tolerance="1e-10" impratio="10" sleep_tolerance="1e-4"><flag sleep="enable"/></option>
<size memory="64M"/>
<default>
<default class="ground"><geom friction="{bodies.board_friction} 0.0005 0.00001" {firm}/></default>
<default class="soldier"><geom friction="{bodies.soldier_friction} 0.002 0.0004" {rolling}/></default>
</default>
<asset>{soldier.base_mesh(height_m, bodies.build)}</asset>
<worldbody>
<geom name="table" class="ground" type="plane" size="5 5 0.1" pos="0 0 {-thickness_m}"/>
<geom name="board" class="ground" type="box" size="{half_x} {half_y} {thickness_m / 2}"
 pos="{surface.x0_m + half_x} {surface.y0_m + half_y} {-thickness_m / 2}"/>
<body name="shot"><freejoint name="shot"/>
<geom name="shot" type="sphere" size="{shot.diameter_mm / 2e3}" mass="{shot.mass_g / 1e3}" priority="1" condim="6"
 friction="{shot.friction} 0.0005 {shot.rolling_friction_mm / 1e3}" solref="{fast[0]} {fast[1]}"
 solimp="0.98 0.99 0.0001"/></body>
{newline.join(soldiers)}
</worldbody></mujoco>"""
