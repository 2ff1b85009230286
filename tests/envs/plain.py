"""One robot in a plain `mj_step` loop, read by MuJoCo's own sensors."""

import mujoco
import numpy as np

from kaccess.engines.mujoco import make_lean_model

LEGS = ("lf", "rf", "rr", "lr")
BODIES = ("torso", *(f"{leg}_{part}" for leg in LEGS for part in ("thigh", "shank")))


class PlainRobot:
    def __init__(self, robot, *, n_substeps=12, low_pass=0.4):
        self.robot, self.n_substeps, self.low_pass = robot, n_substeps, low_pass
        self.model = make_lean_model(robot)
        self.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
        self.data = mujoco.MjData(self.model)

    def reset(self, qpos):
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = qpos
        self.data.ctrl[:] = qpos[self.robot.joint_adr]

    def step(self, action):
        low, high = self.robot.joint_range.T
        new = (low + high) / 2 + (high - low) / 2 * np.clip(action, -1, 1)
        old = self.data.ctrl.copy()
        self.data.ctrl[:] = self.low_pass * old + (1 - self.low_pass) * new
        for _ in range(self.n_substeps):
            mujoco.mj_step(self.model, self.data)
        self.torque = self.read_each(
            f"{name}_torque" for name in self.robot.joint_names
        )
        mujoco.mj_step1(self.model, self.data)  # positions and velocities as of now

    def read_each(self, names):
        return np.array([self.data.sensor(name).data[0] for name in names])

    def read(self, name):
        return self.data.sensor(name).data.copy()

    @property
    def foot_distance(self):
        return self.read_each(f"{leg}_foot_distance" for leg in LEGS)

    @property
    def distance(self):
        return self.read_each(f"{body}_distance" for body in BODIES).min()

    @property
    def touching(self):
        """Names of the geoms in contact with the floor."""
        floor = self.model.geom("floor").id
        pairs = [pair for pair in self.data.contact.geom if floor in pair]
        return {self.model.geom(int(g)).name for pair in pairs for g in pair} - {
            "floor"
        }
