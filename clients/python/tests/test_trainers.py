"""Trainers in a task: functions of arrays, Flower's clients, PyTorch and scikit-learn, each held to the network of the task."""
from __future__ import annotations

import importlib.util
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from basa import FunctionTrainer, Model, Network, SettingsError, Trained
from basa.wire import Message
from basa.flower import FlowerTrainer
from basa.trainer import SoftmaxTrainer
from basa.trainer import Bound

LAYERS = {"input": {"channels": 4}, "layers": [{"kind": "dense", "outputs": 3}]}
IMAGES = {
    "input": {"height": 6, "width": 5, "channels": 2},
    "layers": [{"kind": "conv2d", "outputs": 2, "window": 3}, {"kind": "relu"}, {"kind": "flatten"}, {"kind": "dense", "outputs": 3}],
}
_RANDOM = np.random.default_rng(7)


def policy_of(network: Network, metrics: Tuple[str, ...] = (), loss: int = 1, is_free: bool = False) -> Message:
    training = Message(epochs=2, batch_size=5, learning_rate=0.1, loss=loss)
    named = [Message(name=name.encode(), low=0.0, high=10.0) for name in metrics]
    manifest = bytes(32) if is_free else network.manifest_hash
    return Message(dimension=network.dimension, manifest=manifest, training=training, metrics=named)


def model_of(network: Network) -> Model:
    return Model(3, bytes(32), _RANDOM.normal(size=network.dimension).astype(np.float32))


def clusters() -> Tuple[Any, Any]:
    labels = np.arange(60) % 3
    return (np.eye(4)[labels] + 0.1 * _RANDOM.normal(size=(60, 4))).astype(np.float32), labels


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class Functions(unittest.TestCase):
    task = Network.of_json(LAYERS)

    def bound(self, trainer: Any, served: Optional[Network] = None, **more: Any) -> Bound:
        return Bound(trainer, policy_of(self.task, **more), lambda: served)

    def test_an_update_is_before_minus_after(self) -> None:
        def train(arrays: Dict[str, Any], training: Any) -> Dict[str, Any]:
            self.assertEqual((training.epochs, training.batch_size, training.loss), (2, 5, "softmaxCrossEntropy"))
            arrays["dense0.bias"] += 1
            return arrays

        model = model_of(self.task)
        update, _ = self.bound(FunctionTrainer(train), served=self.task)(model)
        np.testing.assert_allclose(update.delta, [0] * 12 + [-1] * 3, atol=1e-6)

    def test_a_trainer_sees_no_value_below_1e_18(self) -> None:
        seen: Dict[str, Any] = {}
        tiny = Model(0, bytes(32), np.array([1e-42, -1e-30, 1e-17] * 5, np.float32))
        self.bound(FunctionTrainer(lambda arrays, _: seen.update(arrays) or arrays), served=self.task)(tiny)
        self.assertEqual(seen["dense0.bias"].tolist(), [0, 0, np.float32(1e-17)])

    def test_in_a_task_without_a_network_the_parameters_are_one_vector(self) -> None:
        trainer = FunctionTrainer(lambda arrays, _: {"parameters": 2 * arrays["parameters"]})
        update, _ = self.bound(trainer, is_free=True)(model_of(self.task))
        self.assertEqual(update.delta.shape, (15,))

    def test_a_server_may_hide_the_network_from_a_trainer_that_has_its_own(self) -> None:
        with self.assertRaises(SettingsError) as raised:
            self.bound(FunctionTrainer(lambda arrays, _: arrays))
        self.assertEqual(raised.exception.code, "wrong-layout")
        update, _ = self.bound(FunctionTrainer(lambda arrays, _: arrays, self.task))(model_of(self.task))
        self.assertEqual(update.delta.shape, (15,))

    def test_another_network_is_refused(self) -> None:
        other = Network.of_shapes("other", {"w": (3, 4), "b": (3,)})
        with self.assertRaises(SettingsError) as raised:
            self.bound(FunctionTrainer(lambda arrays, _: arrays, other))
        self.assertEqual(raised.exception.code, "wrong-layout")
        # In the order of the task's tensors, if the server shows them and their shapes fit.
        self.bound(FunctionTrainer(lambda arrays, _: arrays, other), served=self.task)(model_of(self.task))
        turned = Network.of_shapes("turned", {"b": (3,), "w": (3, 4)})
        with self.assertRaises(SettingsError):
            self.bound(FunctionTrainer(lambda arrays, _: arrays, turned), served=self.task)
        self.bound(FunctionTrainer(lambda arrays, _: arrays, other), is_free=True)

    def test_metrics(self) -> None:
        told = Trained({}, 7, {"loss": 2.0})
        trainer = FunctionTrainer(lambda arrays, _: Trained(arrays, told.examples, told.metrics))
        update, _ = self.bound(trainer, served=self.task)(model_of(self.task))
        self.assertEqual(update.metrics, {"examples": 7.0, "loss": 2.0})

    def test_softmax_learns(self) -> None:
        features, labels = clusters()
        trainer, model = SoftmaxTrainer(labels, features), Model(0, bytes(32), np.zeros(15, np.float32))
        bound = self.bound(trainer, served=self.task)
        for _ in range(20):
            update, trained = bound(model)
            model = Model(0, bytes(32), model.parameters - update.delta)
        self.assertEqual(trained.metrics["accuracy"], 1.0)
        with self.assertRaises(SettingsError):
            self.bound(trainer, served=self.task, loss=3)(model)


class _FlowerClient:
    def __init__(self) -> None:
        self.configs: List[Dict[str, Any]] = []

    def get_parameters(self, config: Dict[str, Any]) -> List[Any]:
        return [np.zeros((3, 4)), np.zeros(3)]

    def fit(self, parameters: List[Any], config: Dict[str, Any]) -> Tuple[List[Any], int, Dict[str, Any]]:
        self.configs.append(config)
        parameters[1] -= 1
        return parameters, 50, {"ours": 0.5, "words": "not a number"}

    def evaluate(self, parameters: List[Any], config: Dict[str, Any]) -> Tuple[float, int, Dict[str, Any]]:
        return float(np.sum(parameters[0])), 10, {"accuracy": 0.25}


class Flower(unittest.TestCase):
    def test_a_numpy_client_is_a_trainer(self) -> None:
        client, task = _FlowerClient(), Network.of_json(LAYERS)
        trainer = FlowerTrainer(client, {"proximal_mu": 0.1})
        model = model_of(task)
        bound = Bound(trainer, policy_of(task, metrics=("loss", "accuracy")), lambda: task)
        update, trained = bound(model)
        np.testing.assert_allclose(update.delta, [0] * 12 + [1] * 3, atol=1e-6)
        self.assertEqual(client.configs[0]["server_round"], 3)
        self.assertEqual((client.configs[0]["local_epochs"], client.configs[0]["proximal_mu"]), (2, 0.1))
        # Evaluated before the training, without values that are not numbers.
        self.assertAlmostEqual(update.metrics["loss"], float(model.parameters[:12].sum()), places=4)
        self.assertEqual((update.metrics["accuracy"], update.metrics["ours"], trained.examples), (0.25, 0.5, 50))
        self.assertNotIn("words", update.metrics)

    def test_its_own_network_can_be_a_task(self) -> None:
        trainer = FlowerTrainer(_FlowerClient())
        network = trainer.network()
        Bound(trainer, policy_of(network), lambda: None)(model_of(network))
        with tempfile.TemporaryDirectory() as folder:
            trainer.save_network(f"{folder}/net.json")
            self.assertEqual(Network.read(f"{folder}/net.json"), network)


@unittest.skipUnless(has("torch"), "PyTorch is not there")
class Torch(unittest.TestCase):
    def tearDown(self) -> None:
        import torch

        torch.set_flush_denormal(False)  # of this thread, which other tests use

    def test_the_layers_of_a_task_compute_the_same(self) -> None:
        """Against the same windows in plain numpy, with the task's own order of numbers."""
        import torch

        from basa.torch import TorchTrainer, module_of

        task, module = Network.of_json(IMAGES), module_of(IMAGES)
        seen: List[Any] = []
        image = _RANDOM.normal(size=(1, 6, 5, 2)).astype(np.float32)

        def loss(outputs: Any, labels: Any) -> Any:
            seen.append(outputs.detach().numpy().copy())
            return torch.nn.functional.cross_entropy(outputs, labels)

        model = model_of(task)
        expected = _by_hand(task.split(model.parameters), image[0])
        data = (image.transpose(0, 3, 1, 2).copy(), np.array([expected.argmin()]))  # the wrong class, so that there is something to learn
        update, _ = Bound(TorchTrainer(module, data, loss=loss), policy_of(task), lambda: task)(model)
        np.testing.assert_allclose(seen[0][0], expected, rtol=1e-4)
        self.assertGreater(np.abs(update.delta).max(), 0)

    def test_its_own_network(self) -> None:
        import torch

        from basa.torch import TorchTrainer, network_of

        module = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 3))
        trainer = TorchTrainer(module, (np.zeros((4, 1, 4, 4), np.float32), np.zeros(4, np.int64)))
        network = network_of(module)
        self.assertEqual([t.name for t in network.tensors], ["0.weight", "0.bias", "2.weight", "2.bias"])
        update, trained = Bound(trainer, policy_of(network, metrics=("loss", "accuracy")), lambda: None)(model_of(network))
        self.assertEqual((update.delta.shape, trained.examples), ((network.dimension,), 4))
        self.assertEqual(set(update.metrics), {"loss", "accuracy", "examples"})

    def test_it_learns(self) -> None:
        import torch

        from basa.torch import TorchTrainer, network_of

        features, labels = clusters()
        for data in ((features, labels), list(zip(torch.tensor(features).split(7), torch.tensor(labels).split(7)))):
            module = torch.nn.Linear(4, 3)
            bound = Bound(TorchTrainer(module, data), policy_of(network_of(module), metrics=("accuracy",)), lambda: None)
            model = model_of(network_of(module))
            for _ in range(40):
                update, trained = bound(model)
                model = Model(0, bytes(32), model.parameters - update.delta)
            self.assertEqual((trained.examples, trained.metrics["accuracy"]), (60, 1.0))

    def test_frozen_parameters_stay(self) -> None:
        import torch

        from basa.torch import network_of

        module = torch.nn.Sequential(torch.nn.Linear(4, 100), torch.nn.Linear(100, 3))
        module[0].requires_grad_(False)
        self.assertEqual(network_of(module).dimension, 303)

    def test_statistics_are_refused(self) -> None:
        import torch

        from basa.torch import TorchTrainer

        module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
        with self.assertRaises(SettingsError):
            TorchTrainer(module, ([], []))
        TorchTrainer(module, ([], []), local_buffers=True)

    def test_a_loss_of_its_own_is_asked_for(self) -> None:
        import torch

        from basa.torch import TorchTrainer, network_of

        module = torch.nn.Linear(4, 3)
        network = network_of(module)
        with self.assertRaises(SettingsError):
            Bound(TorchTrainer(module, clusters()), policy_of(network, loss=0), lambda: None)(model_of(network))


def _by_hand(arrays: Dict[str, Any], image: Any) -> Any:
    windows, biases = arrays["conv2d0.weight"], arrays["conv2d0.bias"]
    places = [[(windows * image[y : y + 3, x : x + 3]).sum(axis=(1, 2, 3)) + biases for x in range(3)] for y in range(4)]
    return arrays["dense3.weight"] @ np.maximum(places, 0).ravel() + arrays["dense3.bias"]


@unittest.skipUnless(has("sklearn"), "scikit-learn is not there")
class Sklearn(unittest.TestCase):
    def learned(self, estimator: Any, labels: Any, classes: Any, metrics: Tuple[str, ...]) -> Tuple[Any, Any]:
        from basa.sklearn import SklearnTrainer

        features, _ = clusters()
        trainer = SklearnTrainer(estimator, (features, labels), classes=classes)
        network = trainer.network()
        bound = Bound(trainer, policy_of(network, metrics=metrics), lambda: None)
        model = Model(0, bytes(32), np.zeros(network.dimension, np.float32))
        for _ in range(15):
            update, trained = bound(model)
            model = Model(0, bytes(32), model.parameters - update.delta)
        return network, trained

    def test_classes(self) -> None:
        from sklearn.linear_model import SGDClassifier

        estimator = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1)
        network, trained = self.learned(estimator, clusters()[1], [0, 1, 2], ("accuracy", "loss"))
        self.assertEqual([t.shape for t in network.tensors], [(3, 4), (3,)])
        self.assertGreater(trained.metrics["accuracy"], 0.95)
        self.assertLess(trained.metrics["loss"], 1.0)

    def test_a_task_is_made_of_its_network(self) -> None:
        from basa.sklearn import SklearnTrainer
        from sklearn.linear_model import SGDClassifier

        with tempfile.TemporaryDirectory() as folder:
            SklearnTrainer(SGDClassifier(), clusters(), classes=[0, 1, 2]).save_network(f"{folder}/net.json")
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ["net.json", "net.safetensors"])

    def test_two_classes(self) -> None:
        from sklearn.linear_model import Perceptron

        network, trained = self.learned(Perceptron(), np.arange(60) % 3 == 0, [False, True], ("accuracy",))
        self.assertEqual([t.shape for t in network.tensors], [(1, 4), (1,)])
        self.assertGreater(trained.metrics["accuracy"], 0.9)

    def test_regression(self) -> None:
        from sklearn.linear_model import SGDRegressor

        network, trained = self.learned(SGDRegressor(), np.arange(60) % 3 * 2.0, None, ("r2",))
        self.assertEqual([t.shape for t in network.tensors], [(1, 4), (1,)])
        self.assertGreater(trained.metrics["r2"], 0.5)
