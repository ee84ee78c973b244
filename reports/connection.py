"""PySpark's side of a Java that was started for it: the connection, and how both end."""

import contextlib
import os
import warnings
from collections.abc import Mapping
from enum import Enum

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from reports.jvm.process import JavaProcess


class ShutdownMode(Enum):
    """How Java ends: by itself, which takes it a second, or killed."""

    GRACEFUL = "in order"
    IMMEDIATE = "at once"


def open_session(java: JavaProcess, settings: Mapping[str, str]) -> SparkSession:
    """A session in that Java. Raises what PySpark raises."""
    os.environ.update(PYSPARK_GATEWAY_PORT=str(java.port), PYSPARK_GATEWAY_SECRET=java.secret)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        context = SparkContext(conf=SparkConf(loadDefaults=False).setAll([*settings.items()]))
    return SparkSession(context)


def stop(java: JavaProcess, spark: SparkSession, *, mode: ShutdownMode) -> None:
    """End Spark and its Java, and wait for it: nothing outlives the report."""
    context = spark.sparkContext
    gateway = context._gateway
    try:
        if mode is ShutdownMode.IMMEDIATE:
            context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]  # loses its Java
            if gateway is not None:
                # py4j's finalizer thread would go on releasing objects, and log each one that fails, after we are done.
                gateway._gateway_client.is_connected = False
            java.kill()
        # A Java that died has nothing left to stop.
        with contextlib.suppress(Py4JError, OSError), warnings.catch_warnings(action="ignore"):
            context.stop()
        if gateway is not None:
            with contextlib.suppress(Py4JError, OSError):
                gateway.shutdown()
        java.end()
    except BaseException:
        java.kill()
        raise
    finally:
        SparkContext._active_spark_context = None
        SparkContext._gateway = None
        SparkContext._jvm = None
