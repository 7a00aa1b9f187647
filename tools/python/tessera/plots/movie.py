"""Series of pictures: .mp4 by ffmpeg, or one .html file with a slider that needs nothing else."""
import base64
import io
import json
import shutil
import subprocess
from pathlib import Path

from tessera.errors import OutputError, TesseraError, UsageError
from tessera.plots.style import pyplot

PLAYER = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<style>body{font:14px system-ui,sans-serif;margin:1em auto;max-width:960px;text-align:center}img{max-width:100%}
input{width:60%}button{width:5em}</style></head><body><h1 style="font-size:1.2em">@TITLE@</h1>
<img id="picture" alt="@TITLE@"><div><button id="play">Play</button>
<input id="slider" type="range" min="0" value="0" aria-label="frame"> <span id="text"></span></div>
<script>const frames=@FRAMES@,texts=@TEXTS@,rate=@RATE@;
const picture=document.getElementById("picture"),slider=document.getElementById("slider"),play=document.getElementById("play");
let timer=null;slider.max=frames.length-1;
function show(n){picture.src="data:image/png;base64,"+frames[n];slider.value=n;
document.getElementById("text").textContent=texts[n];}
function stop(){clearInterval(timer);timer=null;play.textContent="Play";}
slider.oninput=()=>{stop();show(+slider.value)};
play.onclick=()=>{if(timer){stop();return}play.textContent="Pause";
timer=setInterval(()=>show((+slider.value+1)%frames.length),1000/rate)};
show(0);</script></body></html>
"""


def write_movie(path, figures, texts, rate=8, title="", progress=None):
    """Writes frames, an iterable of figures, as they are made; `texts` has one line for each."""
    path = Path(path)
    frames = []
    for number, figure in enumerate(figures):
        picture = io.BytesIO()
        figure.set_size_inches(*figure.get_size_inches())
        figure.savefig(picture, format="png")
        pyplot().close(figure)
        frames.append(picture.getvalue())
        if progress is not None:
            progress(number + 1, len(texts))
    if not frames:
        raise UsageError("there is no state to show")
    if path.suffix == ".html":
        _write_html(path, frames, texts, rate, title)
    else:
        _write_mp4(path, frames, rate)
    return path


def _write_html(path, frames, texts, rate, title):
    from html import escape

    page = PLAYER.replace("@FRAMES@", json.dumps([base64.b64encode(f).decode("ascii") for f in frames]))
    page = page.replace("@TEXTS@", json.dumps(texts).replace("</", "<\\/")).replace("@RATE@", str(rate))
    try:
        path.write_text(page.replace("@TITLE@", escape(title)), encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror}") from problem


def _write_mp4(path, frames, rate):
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        raise TesseraError("writing .mp4 needs the program ffmpeg, which this machine does not have\n"
                           "  fix  ./tessera setup --plot installs it from Debian; or write .html, which needs nothing")
    # Frames may differ by a pixel; the codec wants even sizes.
    command = [ffmpeg, "-y", "-loglevel", "error", "-f", "image2pipe", "-framerate", str(rate), "-i", "-", "-vf",
               "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18",
               "-movflags", "+faststart", str(path)]
    done = subprocess.run(command, input=b"".join(frames), capture_output=True, check=False)
    if done.returncode != 0:
        raise OutputError(f"ffmpeg could not write {path}:\n" + done.stderr.decode("utf-8", "replace").strip())
