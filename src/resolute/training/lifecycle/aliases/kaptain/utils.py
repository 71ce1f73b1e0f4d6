"""Looking after what was left on the cluster."""

from resolute.client.lifecycle.housekeeping import (
    clean,
    clean_all,
    delete_experiment,
    delete_experiments,
    delete_inference_service,
    delete_inference_services,
    delete_job,
    delete_jobs,
    delete_resource,
    diagnose,
    list_all_resources,
    list_experiments,
    list_inference_services,
    list_jobs,
)

__all__ = [
    "clean",
    "clean_all",
    "delete_experiment",
    "delete_experiments",
    "delete_inference_service",
    "delete_inference_services",
    "delete_job",
    "delete_jobs",
    "delete_resource",
    "diagnose",
    "list_all_resources",
    "list_experiments",
    "list_inference_services",
    "list_jobs",
]
