"""Writes pictures with what they came from in their metadata; removes those of other calls."""

from pathlib import Path

from plot_words import read_json
from whole_file import shown, whole_file

PROGRAM = "attnscale plot.py"  # in every picture, by which those of other calls are found


class PictureFolder:
    """A folder of pictures; after `close` it holds those written here, and what other programs put
    there."""

    def __init__(self, folder, formats, words, source):
        self.folder, self.formats, self.words, self.source = folder, formats, words, source
        self.written = set()
        folder.mkdir(exist_ok=True, parents=True)

    def metadata(self, kind, title):
        """Without the date that matplotlib puts in by default."""
        description = self.words.description
        if kind == "png":
            return {"Software": PROGRAM, "Title": title, "Description": description,
                    "Source": self.source}
        if kind == "svg":
            return {"Date": None, "Creator": PROGRAM, "Title": title, "Description": description,
                    "Source": self.source}
        return {"CreationDate": None, "Producer": None, "Creator": PROGRAM, "Title": title,
                "Subject": f"{description} {self.source}"}

    def save(self, figure, stem):
        """Writes the figure whole or not at all."""
        for kind in self.formats:
            path = self.folder / f"{stem}.{kind}"
            with whole_file(path) as part:
                figure.savefig(part, format=kind, bbox_inches="tight", pad_inches=0.15,
                               metadata=self.metadata(kind, stem.replace("_", " ")))
            self.written.add(path)
            print(shown(path))

    def close(self):
        for path in sorted(self.folder.iterdir()):
            if (path.suffix in (".svg", ".png", ".pdf") and path not in self.written
                    and PROGRAM.encode() in path.read_bytes()):
                path.unlink()


def source_of(folder, frame):
    """Run, seed and fingerprint, as far as they are known."""
    facts = [f"run {frame['run'].iloc[0]}", f"seed {frame['seed'].iloc[0]}"] if len(frame) else [
        f"run {read_json(folder / 'config.json').get('name', folder.name)}"]
    fingerprint = read_json(folder / "manifest.json").get("fingerprint")
    return ", ".join(facts + ([f"fingerprint {fingerprint}"] if fingerprint else []))


def source_of_seeds(folders, frame):
    seeds = ", ".join(map(str, frame["seed"].unique()))
    return f"runs {', '.join(Path(folder).name for folder in folders)}; seeds {seeds}"
