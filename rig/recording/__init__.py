"""One shot as the camera saw it, in one folder: recording.json, the clip, and on the twin the truth.

The format is "shot-recording/1" (docs/recording.md). The clip is any video OpenCV opens, or a folder of PNG pictures.
"""

from rig.recording.disk_room import BESIDE_BYTES, picture_bytes, refuse_full_disk, shot_bytes
from rig.recording.errors import RecordingError
from rig.recording.folder import KEYS_NAME, Recording, read_recording, refuse_recorded
from rig.recording.keys import Keys, ShotKeys
from rig.recording.pictures import read_all_frames, read_frames
from rig.recording.writing import recording_of, write_recording

__all__ = [
    "BESIDE_BYTES",
    "KEYS_NAME",
    "Keys",
    "Recording",
    "RecordingError",
    "ShotKeys",
    "picture_bytes",
    "read_all_frames",
    "read_frames",
    "read_recording",
    "recording_of",
    "refuse_full_disk",
    "refuse_recorded",
    "shot_bytes",
    "write_recording",
]
