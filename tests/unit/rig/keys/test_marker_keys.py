"""The markers that OpenCV's dictionaries have."""

import cv2

from rig.keys.markers import MARKERS_OF


def test_every_dictionary_of_opencv_is_known_with_how_many_markers_it_has() -> None:
    names = {name for name in dir(cv2.aruco) if name.startswith("DICT_")}
    assert {name.upper() for name in names} == {name.upper() for name in MARKERS_OF}
    for name, count in MARKERS_OF.items():
        assert len(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name)).bytesList) == count
