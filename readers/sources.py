"""Which files of a repository are its source code."""

# The first-chunk paper's corpus.
PYTHON = (".py", ".pyx", ".pyi")

# What people write by hand and change to mend a fault; data, documents and lock files are left out.
SOURCES = (
    *PYTHON,
    ".c", ".cc", ".clj", ".cpp", ".cs", ".css", ".cu", ".cxx", ".dart", ".el", ".erl", ".ex", ".exs",
    ".f90", ".go", ".graphql", ".h", ".hpp", ".hrl", ".hs", ".html", ".java", ".jl", ".js", ".jsx", ".kt",
    ".lua", ".m", ".ml", ".mli", ".mm", ".nim", ".php", ".pl", ".pm", ".proto", ".ps1", ".r", ".R", ".rb",
    ".rs", ".scala", ".scss", ".sh", ".sol", ".sql", ".svelte", ".swift", ".tf", ".ts", ".tsx", ".vue",
    ".zig",
)  # fmt: skip
