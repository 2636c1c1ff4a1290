"""25 estimators of scikit-learn-intelex on the GPU-typed device, in two precisions, compared with stock scikit-learn on the host.

use: estimators.py [NAME...]

Data are dpnp arrays on the device, and falling back to the host is an error: what is compared was computed by oneDAL's
kernels. Deterministic estimators have to agree to a tolerance that is relative to the largest value; forests, whose random
numbers are their own, in how well they predict. Exit status 0 when all agree.
"""

import os
import sys
import time

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import dpnp
import numpy as np
import sklearn.cluster
import sklearn.covariance
import sklearn.datasets
import sklearn.decomposition
import sklearn.dummy
import sklearn.ensemble
import sklearn.linear_model
import sklearn.neighbors
import sklearn.preprocessing
import sklearn.svm
import sklearnex
import sklearnex.basic_statistics
import sklearnex.cluster
import sklearnex.covariance
import sklearnex.decomposition
import sklearnex.dummy
import sklearnex.ensemble
import sklearnex.linear_model
import sklearnex.neighbors
import sklearnex.preview.covariance
import sklearnex.preview.decomposition
import sklearnex.preview.preprocessing
import sklearnex.svm

ROWS, COLUMNS = 2000, 12


def host(value):
    return dpnp.asnumpy(value) if isinstance(value, dpnp.ndarray) else np.asarray(value)


def data(kind, precision):
    """Training and test rows, and the targets."""
    if kind == "classes":
        x, y = sklearn.datasets.make_classification(ROWS, COLUMNS, n_informative=6, class_sep=1.5, random_state=3)
    elif kind == "values":
        x, y = sklearn.datasets.make_regression(ROWS, COLUMNS, n_informative=6, noise=5.0, random_state=3)
    else:
        x, y = sklearn.datasets.make_blobs(ROWS, COLUMNS, centers=5, cluster_std=1.0, random_state=3)
    x, y = x.astype(precision), y.astype(precision if kind == "values" else np.int64)
    return x[: ROWS // 2], y[: ROWS // 2], x[ROWS // 2 :], y[ROWS // 2 :]


def same_up_to_sign(rows):
    rows = host(rows)
    return rows * np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])[:, None]


def in_batches(estimator, x, *y):
    for rows in np.array_split(np.arange(x.shape[0]), 4):
        part = slice(rows[0], rows[-1] + 1)
        estimator.partial_fit(x[part], *(values[part] for values in y))
    return estimator


def fitted(*names, predict=True):
    """Fits, and returns attributes and predictions."""

    def results(estimator, x, y, test, _):
        estimator.fit(x, y)
        found = {name: getattr(estimator, name) for name in names}
        if predict:
            found["predict"] = estimator.predict(test)
        return found

    return results


def neighbours(estimator, x, y, test, _):
    estimator.fit(x)
    distances, indices = estimator.kneighbors(test)
    # Rounding may swap two neighbours that are nearly as far: their true distances are compared, not their numbers.
    rows, test = host(x).astype("f8"), host(test).astype("f8")
    named = np.linalg.norm(test[:, None] - rows[host(indices)], axis=2)
    return {"distances": distances, "distances to the rows named": named}


def components(estimator, x, y, test, _):
    estimator.fit(x)
    return {
        "explained_variance_": estimator.explained_variance_,
        "mean_": estimator.mean_,
        "components_": same_up_to_sign(estimator.components_),
        "transform": np.abs(host(estimator.transform(test))),
    }


def batches_of_components(estimator, x, y, test, _):
    in_batches(estimator, x)
    return {"explained_variance_": estimator.explained_variance_, "components_": same_up_to_sign(estimator.components_)}


def batches_of_regression(estimator, x, y, test, _):
    # Stock scikit-learn has these for whole data alone.
    estimator = in_batches(estimator, x, y) if hasattr(estimator, "partial_fit") else estimator.fit(x, y)
    return {"coef_": estimator.coef_, "intercept_": estimator.intercept_, "predict": estimator.predict(test)}


def batches_of_covariance(estimator, x, y, test, _):
    estimator = in_batches(estimator, x) if hasattr(estimator, "partial_fit") else estimator.fit(x)
    return {"covariance_": estimator.covariance_, "location_": estimator.location_}


def statistics(estimator, x, y, test, _):
    if isinstance(estimator, sklearn.preprocessing.StandardScaler):
        estimator.fit(x)
        return {"mean": estimator.mean_, "deviation": estimator.scale_, "min": x.min(axis=0), "max": x.max(axis=0)}
    estimator = in_batches(estimator, x) if hasattr(estimator, "partial_fit") else estimator.fit(x)
    # oneDAL divides by one row less.
    deviation = host(estimator.standard_deviation_) * np.sqrt((x.shape[0] - 1) / x.shape[0])
    return {"mean": estimator.mean_, "deviation": deviation, "min": estimator.min_, "max": estimator.max_}


def accuracy(estimator, x, y, test, truth):
    estimator.fit(x, y)
    return {"accuracy": np.mean(host(estimator.predict(test)) == host(truth))}


def explained(estimator, x, y, test, truth):
    estimator.fit(x, y)
    truth = host(truth)
    return {"explained": 1 - np.var(host(estimator.predict(test)) - truth) / np.var(truth)}


def margins(estimator, x, y, test, _):
    estimator.fit(x, y)
    return {"decision_function": estimator.decision_function(test)}


def outliers(estimator, x, y, test, _):
    estimator.fit(x)
    return {"negative_outlier_factor_": estimator.negative_outlier_factor_}


def cases():
    """Name, kind of data, our estimator and the stock one, compared attributes, tolerances of single and double precision."""
    ex, sk = sklearnex, sklearn
    forest = dict(n_estimators=10, max_depth=10, random_state=7)
    start = data("blobs", "f8")[0][[0, 11, 22, 33, 44]]
    kmeans = dict(n_clusters=5, init=start, n_init=1, max_iter=50, algorithm="lloyd")
    close, exact = (2e-3, 1e-8), (1e-4, 1e-10)
    statistic = dict(result_options=["mean", "standard_deviation", "min", "max"])
    scaler = sk.preprocessing.StandardScaler
    return [
        ("KMeans", "blobs", ex.cluster.KMeans(**kmeans), sk.cluster.KMeans(**kmeans), fitted("cluster_centers_", "labels_", "inertia_"), exact),
        ("DBSCAN", "blobs", ex.cluster.DBSCAN(eps=4.0), sk.cluster.DBSCAN(eps=4.0), fitted("labels_", predict=False), exact),
        ("PCA", "values", ex.decomposition.PCA(4, svd_solver="covariance_eigh"), sk.decomposition.PCA(4, svd_solver="covariance_eigh"), components, close),
        ("IncrementalPCA", "blobs", ex.preview.decomposition.IncrementalPCA(4), sk.decomposition.IncrementalPCA(4), batches_of_components, (2e-2, 2e-2)),
        ("LinearRegression", "values", ex.linear_model.LinearRegression(), sk.linear_model.LinearRegression(), fitted("coef_", "intercept_"), exact),
        ("Ridge", "values", ex.linear_model.Ridge(alpha=2.0), sk.linear_model.Ridge(alpha=2.0), fitted("coef_", "intercept_"), exact),
        ("LogisticRegression", "classes", ex.linear_model.LogisticRegression(solver="newton-cg", tol=1e-6), sk.linear_model.LogisticRegression(solver="newton-cg", tol=1e-6), fitted("coef_", "intercept_"), (1e-2, 1e-4)),
        ("IncrementalLinearRegression", "values", ex.linear_model.IncrementalLinearRegression(), sk.linear_model.LinearRegression(), batches_of_regression, exact),
        ("IncrementalRidge", "values", ex.linear_model.IncrementalRidge(alpha=2.0), sk.linear_model.Ridge(alpha=2.0), batches_of_regression, exact),
        ("RandomForestClassifier", "classes", ex.ensemble.RandomForestClassifier(**forest), sk.ensemble.RandomForestClassifier(**forest), accuracy, (0.03, 0.03)),
        ("RandomForestRegressor", "values", ex.ensemble.RandomForestRegressor(**forest), sk.ensemble.RandomForestRegressor(**forest), explained, (0.05, 0.05)),
        ("ExtraTreesClassifier", "classes", ex.ensemble.ExtraTreesClassifier(**forest), sk.ensemble.ExtraTreesClassifier(**forest), accuracy, (0.03, 0.03)),
        ("ExtraTreesRegressor", "values", ex.ensemble.ExtraTreesRegressor(**forest), sk.ensemble.ExtraTreesRegressor(**forest), explained, (0.08, 0.08)),
        ("KNeighborsClassifier", "classes", ex.neighbors.KNeighborsClassifier(algorithm="brute"), sk.neighbors.KNeighborsClassifier(algorithm="brute"), fitted(), exact),
        # oneDAL's kernels for the GPU compute responses in single precision always (knn/backend/gpu/infer_kernel_impl.hpp).
        ("KNeighborsRegressor", "values", ex.neighbors.KNeighborsRegressor(algorithm="brute"), sk.neighbors.KNeighborsRegressor(algorithm="brute"), fitted(), (2e-3, 1e-6)),
        ("NearestNeighbors", "blobs", ex.neighbors.NearestNeighbors(algorithm="brute"), sk.neighbors.NearestNeighbors(algorithm="brute"), neighbours, close),
        ("LocalOutlierFactor", "values", ex.neighbors.LocalOutlierFactor(algorithm="brute"), sk.neighbors.LocalOutlierFactor(algorithm="brute"), outliers, close),
        ("SVC linear", "classes", ex.svm.SVC(kernel="linear", tol=1e-6), sk.svm.SVC(kernel="linear", tol=1e-6), margins, (1e-2, 1e-3)),
        ("SVC rbf", "classes", ex.svm.SVC(kernel="rbf", tol=1e-6), sk.svm.SVC(kernel="rbf", tol=1e-6), margins, (1e-2, 1e-3)),
        ("EmpiricalCovariance", "values", ex.preview.covariance.EmpiricalCovariance(), sk.covariance.EmpiricalCovariance(), batches_of_covariance, exact),
        ("IncrementalEmpiricalCovariance", "values", ex.covariance.IncrementalEmpiricalCovariance(), sk.covariance.EmpiricalCovariance(), batches_of_covariance, exact),
        ("BasicStatistics", "blobs", ex.basic_statistics.BasicStatistics(**statistic), scaler(), statistics, exact),
        ("IncrementalBasicStatistics", "blobs", ex.basic_statistics.IncrementalBasicStatistics(**statistic), scaler(), statistics, exact),
        ("MaxAbsScaler", "blobs", ex.preview.preprocessing.MaxAbsScaler(), sk.preprocessing.MaxAbsScaler(), fitted("max_abs_", "scale_", predict=False), exact),
        ("DummyRegressor", "values", ex.dummy.DummyRegressor(strategy="constant", constant=2.5), sk.dummy.DummyRegressor(strategy="constant", constant=2.5), fitted("constant_"), exact),
    ]


def differences(ours, theirs, tolerance):
    for name in theirs:
        a, b = host(ours[name]), host(theirs[name])
        if a.size != b.size:
            yield f"{name} has shape {a.shape}, not {b.shape}"
            continue
        a, b = a.astype("f8").ravel(), b.astype("f8").ravel()
        off = np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)
        if not off <= tolerance:
            yield f"{name} is {off:.2e} off, {tolerance:.0e} is allowed"


def main():
    chosen = set(sys.argv[1:])
    wrong = total = 0
    gpu = dpnp.ones(1, device="gpu").sycl_device
    print("device:", gpu.filter_string, "|", gpu.name)
    for precision, column in (("f4", 0), ("f8", 1)):
        for name, kind, ours, theirs, results, tolerances in cases():
            if chosen and name not in chosen:
                continue
            total += 1
            arrays = data(kind, precision)
            began = time.perf_counter()
            with sklearn.config_context(array_api_dispatch=False):
                expected = results(theirs, *arrays)
            middle = time.perf_counter()
            try:
                with sklearnex.config_context(allow_fallback_to_host=False, allow_sklearn_after_onedal=False, array_api_dispatch=True):
                    found = results(ours, *(dpnp.asarray(array, device="gpu") for array in arrays))
                said = list(differences(found, expected, tolerances[column]))
            except Exception as error:
                said = [f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"]
            wrong += bool(said)
            print(f"  {precision} {name:<32} {1e3 * (middle - began):8.1f} ms on the host {1e3 * (time.perf_counter() - middle):9.1f} ms"
                  f"  {'; '.join(said) or 'equal'}", flush=True)
    print(f"{total - wrong} of {total} agree with scikit-learn")
    return min(wrong, 1)


sys.exit(main())
