"""Pages of the documentation site that are no files of docs/; called by MkDocs, see mkdocs.yml.

README.md, that of examples/, CONTRIBUTING.md, SECURITY.md and CHANGELOG.md become pages. Every folder of the
package gets a page of the API reference, and every module of the metrics. Links between files of the
repository become links between pages of the site.
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_OPTIONS = "    options:\n      show_submodules: false\n      heading_level: 2\n"
REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "evaluation"
REFERENCE = "reference"
# Folders that are read for one of their modules: each module has a page.
OF_MODULES = ("evaluation/metrics",)
# Files outside of docs/ that are pages, by their paths in the repository.
PAGES = {
    "README.md": "index.md",
    "examples/README.md": "examples.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"(?P<before>!?\[[^\]]*\]\()(?P<path>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"^```(?P<language>\w+) (?:file=(?P<file>\S+)|\w+)$", re.MULTILINE)
_SOURCES: dict[str, str] = {page: source for source, page in PAGES.items()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of the reference to the navigation."""
    config.nav = [*(config.nav or []), {"API reference": [_entry(folder) for folder in _folders()]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and the files of the repository that a page links to."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(REPOSITORY / source).read_text(encoding="utf-8")))
    for folder in _folders():
        files.append(File.generated(config, _page_of(folder), content=_reference_page(folder)))
        for module in _modules_with_pages(folder):
            files.append(File.generated(config, _page_of(module), content=_module_page(module)))
    linked = {
        target
        for file in files.documentation_pages()
        for match in _LINK.finditer(file.content_string)
        if (target := _target(file.src_uri, match["path"])) and _is_plain_file(target)
    }
    for target in sorted(linked):
        files.append(File.generated(config, _place(target)[0], abs_src_path=str(REPOSITORY / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page with the links of the site, and fences without what only the tests read."""
    uri = page.file.src_uri

    def link(match: re.Match[str]) -> str:
        target = _target(uri, match["path"])
        if target is None:
            return match[0]
        path, anchor = _place(target)
        relative = posixpath.relpath(path, posixpath.dirname(uri) or ".")
        return f"{match['before']}{relative}{match['anchor'] or anchor})"

    def fence(match: re.Match[str]) -> str:
        return f"```{match['language']}" + (f' title="{match["file"]}"' if match["file"] else "")

    return _FENCE.sub(fence, _LINK.sub(link, markdown))


def _target(uri: str, path: str) -> str | None:
    """Return the path in the repository that a link of a page means, or None for what lies elsewhere."""
    if not path or "://" in path or uri.startswith(f"{REFERENCE}/"):
        return None
    source = _SOURCES.get(uri, f"docs/{uri}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path))


def _place(target: str) -> tuple[str, str]:
    """Return the file of the site, and the place in it, for a path of the repository."""
    if target in PAGES:
        return PAGES[target], ""
    if target.startswith("docs/"):
        return target.removeprefix("docs/"), ""
    if target.startswith("evaluation/"):
        folder = target if (REPOSITORY / target).is_dir() else posixpath.dirname(target)
        module = target.removesuffix(".py")
        page = module if folder in OF_MODULES else folder
        return _page_of(page), f"#{_dotted(module)}"
    # MkDocs leaves out files whose names begin with a dot.
    return f"files/{target.removeprefix('.')}", ""


def _is_plain_file(target: str) -> bool:
    page, _ = _place(target)
    return page.startswith("files/")


def _folders() -> list[str]:
    """Return the folders of the package that hold modules, by their paths in the repository."""
    folders = {path.parent.relative_to(REPOSITORY).as_posix() for path in PACKAGE.rglob("*.py")}
    return sorted(folders)


def _entry(folder: str) -> Any:
    """Return the entry of a folder in the navigation, with those of its modules that have a page."""
    name = folder.removeprefix("evaluation/").replace("/", " / ")
    modules: list[Any] = [{Path(module).name: _page_of(module)} for module in _modules_with_pages(folder)]
    return {name: [_page_of(folder), *modules] if modules else _page_of(folder)}


def _modules_of(folder: str) -> list[str]:
    """Return the modules of a folder by their paths in the repository, without extension."""
    modules = sorted(path.stem for path in (REPOSITORY / folder).glob("*.py"))
    return [f"{folder}/{module}" for module in modules if module not in ("__init__", "__main__")]


def _modules_with_pages(folder: str) -> list[str]:
    return _modules_of(folder) if folder in OF_MODULES else []


def _page_of(folder: str) -> str:
    return f"{REFERENCE}/{_dotted(folder)}.md"


def _reference_page(folder: str) -> str:
    """Return the page of a folder: the package itself, then its modules, or links to their pages."""
    package = _dotted(folder)
    parts = [f"# {package}\n", f"::: {package}\n{_OPTIONS}      show_root_heading: false\n"]
    if folder in OF_MODULES:
        return "\n".join([*parts, "## Modules\n", *map(_line_of, _modules_of(folder))])
    return "\n".join([*parts, *(f"::: {_dotted(module)}\n{_OPTIONS}" for module in _modules_of(folder))])


def _module_page(module: str) -> str:
    return f"# {_dotted(module)}\n\n::: {_dotted(module)}\n{_OPTIONS}      show_root_heading: false\n"


def _line_of(module: str) -> str:
    """Return a line that leads to the page of a module: its first sentence, and its public functions."""
    tree = ast.parse((REPOSITORY / f"{module}.py").read_text(encoding="utf-8"))
    page = posixpath.basename(_page_of(module))
    functions = [
        f"[`{part.name}`]({page}#{_dotted(module)}.{part.name})"
        for part in tree.body
        if isinstance(part, ast.FunctionDef) and part.name in _listed(tree)
    ]
    purpose = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
    return f"- [{posixpath.basename(module)}]({page}): {purpose}" + (
        f" {', '.join(functions)}." if functions else ""
    )


def _listed(tree: ast.Module) -> list[str]:
    """Return the names in ``__all__`` of a module."""
    for part in tree.body:
        if isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(part.value))
    return []


def _dotted(path: str) -> str:
    return path.replace("/", ".")
