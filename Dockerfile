# The image that evaluates one phase: docker build --tag evaluation --build-arg PHASE=refuge-onsite .
# Two builds on one base image (to pin it: --build-arg BASE=python@sha256:…) have equal layers; see `evaluation build`.
ARG BASE=python:3.13-slim-trixie

# --- system: Python, the packages of requirements.txt, the user -----------------------------------------------------
FROM --platform=linux/amd64 $BASE AS system
ARG SOURCE_DATE_EPOCH=1735689600
ENV PYTHONHASHSEED=0 SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH
COPY requirements.txt /opt/evaluation/
RUN cd /opt/evaluation && python -m venv --without-pip venv && python -m pip --python venv/bin/python --no-cache-dir \
      --disable-pip-version-check install --quiet --no-compile --require-hashes --requirement requirements.txt
# /output is the user's, and so is a new volume there. No program runs with other rights than its caller's (setuid).
RUN useradd --uid 1000 --user-group --create-home --shell /usr/sbin/nologin evaluation && mkdir /input /output \
 && chown evaluation:evaluation /output && chmod 0777 /output && find / -xdev -perm /6000 -type f -exec chmod a-s {} + \
 && find /opt /usr -depth \( -name pip -o -name 'pip-*' -o -name 'pip3*' -o -name ensurepip -o -name '*.whl' -o -name \
      pydoc_data -o -path '*/site-packages/*/tests' -o -path '*/lib/python3.*/test' \) -exec rm -rf {} + \
 && dpkg --purge --force-all perl-base && rm -rf /usr/share/doc /usr/share/info /usr/share/locale \
      /usr/share/man /var/cache/* /var/lib/apt/lists/* /var/log/*
# No byte code can be written at run time; these imports write what an evaluation needs. All of it would add 19 MB.
RUN set_times() { find /etc /home /input /opt /output /tmp /usr /var -newermt @$SOURCE_DATE_EPOCH \
      -exec touch --no-dereference --date=@$SOURCE_DATE_EPOCH {} +; } \
 && set_times && /opt/evaluation/venv/bin/python -c "import numpy, pandas, pydantic, rich.table, SimpleITK; \
import grand_challenge_metrics, scipy.ndimage, scipy.stats, sklearn.isotonic, sklearn.metrics, zlib_ng.zlib_ng; \
import PIL.BmpImagePlugin, PIL.PngImagePlugin, PIL.TiffImagePlugin" && set_times

# --- package: its two wings, what an evaluation runs and what organisers do around it -------------------------------
FROM system AS package
COPY evaluation /package/opt/evaluation/evaluation
RUN cd /package/opt/evaluation && chmod -R u=rwX,go=rX . && find . -exec touch --date=@$SOURCE_DATE_EPOCH {} + \
 && python -m compileall -q --invalidation-mode timestamp evaluation && mv evaluation/organiser / \
 && find /package -exec touch --date=@$SOURCE_DATE_EPOCH {} +

# --- base: without a phase and the organiser's wing; builder: with both wings ---------------------------------------
FROM --platform=linux/amd64 scratch AS base
COPY --from=system / /
COPY --from=package /package /
# One thread a process: the work is spread over processes. exec: one submission, one start of the container.
ENV PATH=/opt/evaluation/venv/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 PYTHONPATH=/opt/evaluation PYTHONSAFEPATH=1 \
    PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS=1
ARG BASE
LABEL org.grand-challenge.api-method="exec" org.opencontainers.image.base.name="$BASE" \
      org.opencontainers.image.title="evaluation" org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /opt/evaluation
USER evaluation
ENTRYPOINT ["/opt/evaluation/venv/bin/python", "-m", "evaluation"]
FROM base AS builder
COPY --from=package /organiser evaluation/organiser

# --- extra: packages of a requirements.txt beside phase.toml or challenge.py; the package's own versions hold -------
FROM --platform=linux/amd64 $BASE AS extra
COPY --from=system /opt/evaluation /opt/evaluation
ARG PHASE
RUN test -n "$PHASE" || { echo 'Dockerfile: which phase? Add --build-arg PHASE=refuge-onsite' >&2; exit 2; }
COPY ground-truth/$PHASE/phase.toml ground-truth/$PHASE/requirements.tx[t] /wanted/
RUN mkdir -p /extra/opt/evaluation && touch /before && cd /opt/evaluation && if test -f /wanted/requirements.txt; then \
      SOURCE_DATE_EPOCH=1 python -m pip --python venv/bin/python --no-cache-dir --disable-pip-version-check \
        install --quiet --require-hashes --constraint requirements.txt --requirement /wanted/requirements.txt \
      && find venv -cnewer /before ! -type d -exec cp -a --parents --target-directory=/extra/opt/evaluation {} +; fi

# --- phase: the reference, checked, sealed and rehearsed; the image is the base and this --------------------------
FROM builder AS phase
COPY --from=extra /extra /extra
ARG PHASE
USER root
COPY ground-truth/$PHASE /phase/opt/evaluation/ground-truth
RUN cp -a /extra/. / && cp -a /extra/. /phase && cd /phase/opt/evaluation && python -m evaluation seal ground-truth \
 && python -m evaluation rehearse ground-truth && rm -f ground-truth/.nonce && chmod -R u=rwX,go=rX ground-truth \
 && find /phase -exec touch --no-dereference --reference=/opt/evaluation/venv {} +
FROM base
COPY --from=phase /phase /
