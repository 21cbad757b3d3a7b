# The image that evaluates one phase:
#
#   docker build --tag evaluation --build-arg PHASE=refuge-onsite .
#
# ./build.sh does the same and labels the image with the digests of the phase's manifest and of the base image. To pin
# the base image: --build-arg BASE=python@sha256:…
# Nothing here needs BuildKit. Two builds of one phase on one base image have equal layers: every file gets the same
# time, byte code does not depend on hashes of strings, and the seal's random number is kept beside the phase.
ARG BASE=python:3.13-slim-trixie

# --- The system: Python, the packages, the user ---------------------------------------------------------------------
FROM --platform=linux/amd64 $BASE AS system

ARG SOURCE_DATE_EPOCH=1735689600
ENV PYTHONHASHSEED=0
COPY requirements.txt /opt/evaluation/
RUN python -m venv --without-pip /opt/evaluation/venv \
 && python -m pip --python /opt/evaluation/venv/bin/python --no-cache-dir --disable-pip-version-check \
      install --quiet --no-compile --require-hashes --requirement /opt/evaluation/requirements.txt

RUN SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH \
    useradd --uid 1000 --user-group --create-home --shell /usr/sbin/nologin evaluation

# Whatever an evaluation does not need goes: pip in every place that it may lie, documentation, package lists, and of
# the packages their tests, headers and sources. What is left is copied into an empty image below, so that it is
# really gone and not only hidden by a later layer.
RUN set -eu; \
    standard_library=$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))'); \
    rm -rf "$standard_library"/ensurepip "$standard_library"/idlelib "$standard_library"/test \
      "$standard_library"/pydoc_data "$standard_library"/turtledemo \
      /usr/local/lib/python3*/site-packages/* /usr/lib/python3/dist-packages/* /usr/share/python-wheels \
      /usr/bin/pip* /usr/local/bin/pip* /usr/bin/wheel* /usr/local/bin/wheel* \
      /usr/share/doc /usr/share/info /usr/share/locale /usr/share/man \
      /root/.cache /var/cache/* /var/lib/apt/lists/* /var/log/* \
      /opt/evaluation/requirements.txt /opt/evaluation/venv/include /opt/evaluation/venv/share; \
    cd /opt/evaluation/venv/lib/python3*/site-packages; \
    find . -type d -name tests -prune -exec rm -rf {} +; \
    find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.h' -o -name '*.hpp' \
      -o -name '*.c' -o -name '*.cpp' -o -name '*.a' -o -name '*.f' -o -name '*.f90' \) -delete; \
    find / -xdev -perm /6000 -type f -exec chmod a-s {} +; \
    rm -f /etc/*-; \
    find / -xdev -type d -name __pycache__ -prune -exec rm -rf {} +

# Of the tools nothing is left but the plain ones of a shell: no package manager, no interpreter beside Python, nothing
# that mounts, changes the user or speaks to a network.
COPY scripts/image_files.py /opt/evaluation/image_files.py
RUN python -B /opt/evaluation/image_files.py remove \
      adduser apt bsdutils ca-certificates debconf debian-archive-keyring dpkg e2fsprogs findutils gpgv \
      init-system-helpers libapt-pkg7.0 libpam-modules libpam-modules-bin libpam-runtime login login.defs mawk mount \
      ncurses-bin netbase openssl openssl-provider-legacy passwd perl-base python3-packaging python3-pip \
      python3-pip-whl python3-setuptools-whl python3-venv python3-wheel python3.13-venv sed sqv sysvinit-utils util-linux \
 && rm -rf /etc/apt /etc/ssl /usr/lib/apt /usr/lib/ssl /usr/lib/x86_64-linux-gnu/perl-base /usr/share/perl* \
      /var/lib/apt /usr/local/share/ca-certificates \
 && python -B /opt/evaluation/image_files.py times "$SOURCE_DATE_EPOCH"

# Byte code cannot be written at run time (the file system is read-only), and without any the start takes twice as
# long. All of it would add 19 MB; so exactly what these imports load is compiled, in the packages and in the standard
# library, by importing it.
RUN /opt/evaluation/venv/bin/python -c "\
import numpy, PIL.BmpImagePlugin, PIL.PngImagePlugin, PIL.TiffImagePlugin, pydantic, rich.table, zlib_ng.zlib_ng; \
import grand_challenge_metrics, pandas, scipy.ndimage, scipy.stats, SimpleITK, sklearn.isotonic, sklearn.metrics" \
 && python -B /opt/evaluation/image_files.py times "$SOURCE_DATE_EPOCH" --and-remove-itself

# --- The package ----------------------------------------------------------------------------------------------------
FROM system AS package

ARG SOURCE_DATE_EPOCH=1735689600
WORKDIR /opt/evaluation
COPY scripts/image_files.py image_files.py
COPY evaluation evaluation
RUN python -B image_files.py times "$SOURCE_DATE_EPOCH" \
 && /opt/evaluation/venv/bin/python -m compileall -q --invalidation-mode timestamp evaluation \
 && mkdir -p /package/opt/evaluation \
 && cp -a evaluation /package/opt/evaluation/ \
 && chmod -R u=rwX,go=rX /package \
 && python -B image_files.py times "$SOURCE_DATE_EPOCH"

# --- The package without any phase: what the image of a phase in another folder starts from (./build.sh --base) ------
FROM --platform=linux/amd64 scratch AS base

COPY --from=system / /
COPY --from=package /package /

# PYTHONSAFEPATH: the working folder is not searched for modules, only /opt/evaluation is.
# One thread per process: the work is spread over processes, and each is held to its share of memory and threads.
ENV PATH=/opt/evaluation/venv/bin:/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 \
    PYTHONPATH=/opt/evaluation \
    PYTHONSAFEPATH=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OPENBLAS_NUM_THREADS=1 \
    OMP_NUM_THREADS=1 \
    ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS=1

# exec: one submission, one start of the container (docs/host-a-phase.md says why).
ARG BASE
LABEL org.grand-challenge.api-method="exec" \
      org.opencontainers.image.base.name="$BASE" \
      org.opencontainers.image.title="evaluation" \
      org.opencontainers.image.licenses="Apache-2.0"

WORKDIR /opt/evaluation
USER evaluation
ENTRYPOINT ["/opt/evaluation/venv/bin/python", "-m", "evaluation"]

# --- The phase: the reference, checked, sealed and rehearsed --------------------------------------------------------
FROM package AS phase

ARG SOURCE_DATE_EPOCH=1735689600
ARG PHASE
RUN test -n "$PHASE" || { echo 'Dockerfile: which phase? Add --build-arg PHASE=refuge-onsite' >&2; exit 2; }
COPY ground-truth/$PHASE ground-truth
RUN export PYTHONDONTWRITEBYTECODE=1 \
 && /opt/evaluation/venv/bin/python -m evaluation seal ground-truth \
 && /opt/evaluation/venv/bin/python -m evaluation rehearse ground-truth \
 && mkdir -p /phase/opt/evaluation \
 && mv ground-truth /phase/opt/evaluation/ \
 && rm -f /phase/opt/evaluation/ground-truth/.nonce \
 && chmod -R u=rwX,go=rX /phase \
 && python -B image_files.py times "$SOURCE_DATE_EPOCH"

# --- The image ------------------------------------------------------------------------------------------------------
FROM base

COPY --from=phase /phase /
