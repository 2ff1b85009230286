"""One SAC learner, written plainly: torch modules, autograd and torch's Adam."""

import copy

import torch
from torch import nn


def mlp(weights, biases):
    layers = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = nn.Linear(*weight.shape)
        layer.weight.data = weight.T.clone()
        layer.bias.data = bias.reshape(-1).clone()
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class ReferenceLearner:
    """A copy of learner `p` of a population, with its current parameters."""

    def __init__(self, learners, p, config):
        def network(layers, i):
            return mlp([w[i] for w, _ in layers], [b[i] for _, b in layers])

        self.config, self.n_obs = config, learners.shape.obs_dim
        self.n_act = learners.shape.act_dim
        self.actor = network(learners.actor_layers, p)
        self.critics = nn.ModuleList(
            network(learners.critic_layers, i) for i in (2 * p, 2 * p + 1)
        )
        self.targets = copy.deepcopy(self.critics)
        self.log_alpha = torch.zeros((), requires_grad=True)
        lr = config.learning_rate
        self.actor_adam = torch.optim.Adam(self.actor.parameters(), lr)
        self.critic_adam = torch.optim.Adam(self.critics.parameters(), lr)
        self.alpha_adam = torch.optim.Adam([self.log_alpha], lr)

    def sample(self, obs, noise):
        mean, log_std = self.actor(obs).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-20, 2).exp())
        x = normal.mean + normal.stddev * noise
        action = torch.tanh(x)
        squashed = torch.distributions.TransformedDistribution(
            normal, torch.distributions.TanhTransform(cache_size=1)
        )
        # Evaluated at x, as atanh(action) would lose digits.
        log_prob = normal.log_prob(x) - squashed.transforms[0].log_abs_det_jacobian(
            x, action
        )
        return action, log_prob.sum(-1)

    def update(self, rows, noise):
        n, k = self.n_obs, self.n_obs + self.n_act
        obs, act, reward = rows[:, :n], rows[:, n:k], rows[:, k]
        discount, next_obs = rows[:, k + 1], rows[:, k + 2 :]
        now, later = noise.chunk(2)
        alpha = self.log_alpha.exp().detach()
        action, log_prob = self.sample(obs, now)

        with torch.no_grad():
            next_action, next_log_prob = self.sample(next_obs, later)
            x = torch.cat([next_obs, next_action], -1)
            value = torch.minimum(*(q(x)[:, 0] for q in self.targets))
            value = value - alpha * next_log_prob
            target = reward + discount * value
        x = torch.cat([obs, act], -1)
        errors = [nn.functional.mse_loss(q(x)[:, 0], target) for q in self.critics]
        self.step(self.critic_adam, 0.5 * sum(errors))

        x = torch.cat([obs, action], -1)
        q = torch.minimum(*(q(x)[:, 0] for q in self.critics))
        self.step(self.actor_adam, (alpha * log_prob - q).mean())
        goal = self.config.target_entropy
        goal = -self.n_act if goal is None else goal
        self.step(
            self.alpha_adam, -(self.log_alpha * (log_prob.detach() + goal)).mean()
        )
        with torch.no_grad():
            for new, old in zip(
                self.critics.parameters(), self.targets.parameters(), strict=True
            ):
                old += self.config.tau * (new - old)

    @staticmethod
    def step(optimiser, loss):
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
