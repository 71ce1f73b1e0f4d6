"""From a trainer's file to an endpoint that a canary has taken over: python lifecycle.py, with a master running."""

import json
from pathlib import Path

from make_data import draw, write_digits

from resolute.client import Client
from resolute.lifecycle import Config, Discrete, Double, Model, ModelFramework

HERE = Path(__file__).parent


def main() -> None:
    write_digits(HERE / "datasets")
    client = Client()
    model = Model(
        id="dev/mnist",
        name="MNIST",
        description="Drawn digits",
        version="0.0.1",
        framework=ModelFramework.PYTORCH,
        framework_version="2",
        main_file="trainer.py",
        extra_files=["datasets/MNIST", "model.py"],
        requirements="requirements.txt",
        serving_config={"model_file": "model.py", "handler": "image_classifier"},
        config=Config(base_dir=HERE, client=client),
    )
    model.train(workers=2, hyperparameters={"--epochs": 2, "--seed": 7}, args={"--log-interval": "4"})
    model.deploy(replace=True)
    model.tune(
        hyperparameters={"--lr": Double(0.003, 0.03), "--epochs": Discrete(["3"])},
        objectives=["accuracy"],
        objective_goal=0.999,
        trials=4,
        workers=1,
    )
    model.deploy_canary(canary_traffic_percentage=30)
    model.promote_canary()

    pictures, labels = draw(1, seed=1)
    picture = (pictures / 255.0 - 0.1307) / 0.3081
    answer = client.deployments.get("dev-mnist").predict([{"data": picture.tolist()}])
    print(f"A drawn {labels[0]} is recognised as {json.dumps(answer[0])}")
    print(f"Saved as {model.save_as_json(overwrite=True)}")
    model.undeploy()


if __name__ == "__main__":
    main()
