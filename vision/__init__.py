"""What the overhead camera saw: arrays in, frozen results out.

How one shot is read, from its pictures to who fell and why; `vision.reading.read_shot` goes through it in this order:

1. **What is known.** A `Scene`: the board, the lens, who fires and from where; and the position and the release, where they are told.
   Whether the pictures' times can be right is asked in `vision.film_times`.
2. **The table before** (`vision.table_before`), in what a few pictures before the release have in common. `vision.registration`
   finds the camera over the board, by markers, by corners or by the board's own lines; where nothing tells its ends apart, the
   shot does (`vision.ends`). `vision.soldiers` lays the picture flat, learns the bare board, and says who stands where, of which
   side, how tall, and where the lamp hangs.
3. **While it flies** (`vision.lookout`) each picture is looked at once: how it sways (`vision.steady`), what may be the shot in it, and
   whether anything else stirs.
4. **Pictures that mislead.** A camera that hangs (`vision.hung`) shows nothing to read. After a bump (`vision.bump`, told by
   `vision.anchors`) the pictures are laid back over the board as it was.
5. **Who fell** (`vision.falls`): the last pictures are held against the table before. Whoever left a place that seemed empty was not
   seen, and the table is read once more with him.
6. **The shot's way** (`vision.shot`): its streaks, put together to free flights, one after each thing that it touched. Where hardly any
   of it is seen, it is looked for as if its release had not been told (`vision.release_untold`). Rows that were not taken all at once
   make it seem faster or slower (`vision.rolling_shutter`).
7. **Why they fell** (`vision.causes`): accounts of what the shot touched, held against all falls and pushes at once.
8. **What holds the ruling** (`vision.guards`): a hand, a bump, other light, a late fall; something that lay over the board all along
   (`vision.lying_there`), squares outside the picture (`vision.outside`), a shot from the other end (`vision.ends`).

The falls with their causes go to the judge in `game.montecassino`; `rig.verdict.analyse` takes them there.

Points of the board are (x, y, z) in mm: x to the Allies' right, y towards the Germans, z up, the origin at A-1's outer corner. Pixels
are (u, v) to the right and down, the middle of the first one at (0, 0). A *raster* is a picture laid on the board's plane: rows along
+y, columns along +x (`vision.soldiers.surface.Raster`). Times are microseconds on the camera's clock.

Two parts stand beside the shot: `vision.lens` calibrates the lens, and `vision.rest` says when a clip may end. Of use to all are
`vision.change`, `vision.free_ground`, `vision.grey`, `vision.quick_median`, `vision.over_colours` and `vision.trained_nets`.
"""

from vision.causes import FallCause, Knock
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.reading import ShotReading, read_shot
from vision.registration import BoardView, NoBoard, register
from vision.scene import MarkerMap, Scene
from vision.shot import ShotTrack
from vision.soldiers import Board, read_board
from vision.table_before import NoReading

__all__ = [
    "Board",
    "BoardView",
    "FallCause",
    "Knock",
    "MarkerMap",
    "NoBoard",
    "NoReading",
    "Push",
    "Scene",
    "ShotReading",
    "ShotTrack",
    "Soldier",
    "Standing",
    "Toppling",
    "read_board",
    "read_shot",
    "register",
]
