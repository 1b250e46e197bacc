"""What the chip's pins move and what moves them: servos, lever, switches, muzzle gate and loader."""

from twin.plant.contact import Contact, ContactSettings
from twin.plant.gate import Gate, GateSettings
from twin.plant.lever import Lever, LeverSettings, Released
from twin.plant.loader import Loader, LoaderSettings
from twin.plant.mount import Aim, MountSettings, aim_of_pulses, pose_of_aim
from twin.plant.plant import STEP_CYCLES, Firing, Plant, PlantSettings
from twin.plant.servo import Servo, ServoSettings

__all__ = [
    "STEP_CYCLES",
    "Aim",
    "Contact",
    "ContactSettings",
    "Firing",
    "Gate",
    "GateSettings",
    "Lever",
    "LeverSettings",
    "Loader",
    "LoaderSettings",
    "MountSettings",
    "Plant",
    "PlantSettings",
    "Released",
    "Servo",
    "ServoSettings",
    "aim_of_pulses",
    "pose_of_aim",
]
