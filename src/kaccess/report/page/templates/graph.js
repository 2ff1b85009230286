"use strict";
// The pose graph, drawn by Cytoscape.js, and a panel that also works without it.
(() => {
  const content = JSON.parse(document.getElementById("graph-content").textContent);
  const { clusters, links, poses, contacts, sheet } = content;
  const STANDING = -1;
  const canvas = document.getElementById("graph-canvas");
  const panel = document.getElementById("graph-panel");
  const select = document.getElementById("graph-cluster");
  const least = document.getElementById("graph-least");
  const shown = document.getElementById("graph-shown");
  const tip = document.getElementById("graph-tip");
  const status = document.getElementById("graph-status");
  const order = [...clusters.keys()].sort((a, b) => clusters[b].size - clusters[a].size || a - b);
  const members = clusters.map(() => []);
  poses.cluster.forEach((cluster, pose) => members[cluster].push(pose));
  let chosen = null, pose = null, graph = null;

  // ---- small helpers -------------------------------------------------------------
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const colour = (name) => {
    // A canvas needs a colour, not a CSS variable: the browser computes it.
    const probe = element("span", { style: `color: var(--${name})` });
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  };
  const seconds = (value) => (value === null ? "not reached" : `${value.toFixed(2)} s`);
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const thumb = (number) => {
    const column = number % sheet.columns, row = Math.floor(number / sheet.columns);
    const at = `background-position: ${-column * sheet.width}px ${-row * sheet.height}px`;
    return element("span", { class: "thumb", style: at, role: "img", "aria-label": `picture of pose ${number}` });
  };
  const threshold = () => Number(least.value);
  const visible = () => links.filter((link) => link[2] >= threshold());

  // ---- the panel ------------------------------------------------------------------
  const fact = (name, value) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
  const routeList = (start) => {
    // Each move: command, pose where it ends (null: near none), and time.
    const route = poses.chain[start];
    if (route === null) return element("p", {}, "No chain of moves leads from here to standing.");
    const list = element("ol", { class: "route" });
    let at = start;
    for (const [command, end, took] of route) {
      const goal = end === STANDING ? " to standing" : end === null ? ", lands between the poses" : ` to pose ${end}, cluster ${poses.cluster[end]}`;
      const item = element("li");
      if (content.pictures) item.append(at === null ? element("span", { class: "thumb none" }) : thumb(at));
      item.append(element("span", {}, `${command} `, element("br"), `${seconds(took)}${goal}`));
      list.append(item);
      at = end;
    }
    return list;
  };
  const linkList = (rows, word) => {
    if (!rows.length) return element("p", {}, `No link over ${threshold().toFixed(2)}.`);
    const list = element("ul", { class: "links" });
    for (const [other, value] of rows) {
      const button = element("button", { type: "button", onclick: () => choose(other) },
        element("span", {}, `${word} cluster ${other} (${plural(clusters[other].size, "pose")})`),
        element("span", {}, value.toFixed(2)));
      list.append(element("li", {}, button));
    }
    return list;
  };
  const memberList = (cluster) => {
    const list = element("ul", { class: "members" });
    const byTime = [...members[cluster]].sort((a, b) => (poses.fromCentroid[a] ?? 1e9) - (poses.fromCentroid[b] ?? 1e9));
    for (const member of byTime) {
      const time = member === clusters[cluster].centroid ? "centroid" : seconds(poses.fromCentroid[member]);
      const button = element("button", {
        type: "button", "aria-pressed": String(member === pose), "data-pose": member,
        title: `on ${contacts[poses.contact[member]]}`, onclick: () => choosePose(member),
      });
      if (content.pictures) button.append(thumb(member));
      button.append(`pose ${member}`, element("br"), time);
      list.append(element("li", {}, button));
    }
    return list;
  };
  const showPanel = () => {
    if (chosen === null) {
      const one = poses.toStanding.filter((time) => time !== null).length;
      const some = poses.route.filter((time) => time !== null).length;
      panel.replaceChildren(
        element("h3", {}, "All clusters"),
        element("p", {}, `${plural(clusters.length, "cluster")} of ${plural(poses.cluster.length, "pose")}. ${one} poses stand up in one move, ${some} by a chain of moves.`),
        element("p", {}, "Click a node, choose a cluster from the list, or press an arrow key."));
      return;
    }
    const cluster = clusters[chosen];
    const out = visible().filter((link) => link[0] === chosen).map((link) => [link[1], link[2]]);
    const into = visible().filter((link) => link[1] === chosen).map((link) => [link[0], link[2]]);
    const strongest = (a, b) => b[1] - a[1];
    panel.replaceChildren(
      element("h3", {}, `Cluster ${chosen}`),
      element("img", { src: cluster.image, alt: `Centroid, pose ${cluster.centroid}`, width: 320, height: 240 }),
      element("dl", {},
        fact("centroid", `pose ${cluster.centroid}`),
        fact("members", plural(cluster.size, "pose")),
        fact("on the ground", contacts[poses.contact[cluster.centroid]]),
        fact("intra-access", cluster.intra.toFixed(2)),
        fact("standing in one move", seconds(poses.toStanding[cluster.centroid]))),
      element("h4", { id: "graph-route" }, `Route to standing from pose ${pose}: ${seconds(poses.route[pose])}`),
      routeList(pose),
      element("h4", {}, `Links to other clusters (over ${threshold().toFixed(2)})`), linkList(out.sort(strongest), "to"),
      element("h4", {}, `Links from other clusters (over ${threshold().toFixed(2)})`), linkList(into.sort(strongest), "from"),
      element("h4", {}, "Members, by time from the centroid"), memberList(chosen));
    panel.scrollTop = 0;
  };

  const say = () => {
    // For screen readers: the choice in one sentence; the panel shows the rest.
    if (chosen === null) { status.textContent = "All clusters"; return; }
    const route = poses.chain[pose];
    const through = route === null ? "no route to standing" : `standing in ${seconds(poses.route[pose])} by ${plural(route.length, "move")}`;
    status.textContent = `Cluster ${chosen}, ${plural(clusters[chosen].size, "pose")}; from pose ${pose} ${through}.`;
  };

  // ---- choosing --------------------------------------------------------------------
  const choose = (cluster) => {
    chosen = cluster;
    pose = cluster === null ? null : clusters[cluster].centroid;
    select.value = cluster === null ? "" : String(cluster);
    showPanel();
    say();
    mark();
  };
  const choosePose = (member) => {
    pose = member;
    showPanel();
    panel.querySelector(`[data-pose="${member}"]`).focus({ preventScroll: true });
    say();
    mark();
  };
  const step = (by) => {
    const at = chosen === null ? (by > 0 ? -1 : 0) : order.indexOf(chosen);
    choose(order[(at + by + order.length) % order.length]);
  };
  select.append(element("option", { value: "" }, "all"));
  for (const cluster of order) {
    select.append(element("option", { value: cluster }, `${cluster} (${plural(clusters[cluster].size, "pose")})`));
  }
  select.addEventListener("change", () => choose(select.value === "" ? null : Number(select.value)));
  document.getElementById("graph-back").addEventListener("click", () => step(-1));
  document.getElementById("graph-on").addEventListener("click", () => step(1));
  least.addEventListener("input", () => { filter(); showPanel(); mark(); });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by) step(by);
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });

  // ---- the graph -------------------------------------------------------------------
  const side = (size) => 44 + 96 * Math.sqrt(size / Math.max(...clusters.map((c) => c.size)));
  const elements = () => [
    { data: { id: "standing", label: "standing", side: 80 }, position: { x: 0, y: 0 }, classes: "standing" },
    ...clusters.map((cluster, number) => ({
      data: { id: String(number), label: String(number), side: side(cluster.size), image: cluster.image },
      position: { x: 330 * cluster.x, y: 330 * cluster.y }, classes: "cluster",
    })),
    ...links.map(([from, to, value]) => ({ data: { id: `${from}-${to}`, source: String(from), target: String(to), value } })),
    ...clusters.map((cluster, number) => ({ number, value: cluster.standing })).filter((link) => link.value >= 0.02)
      .map(({ number, value }) => ({ data: { id: `${number}-standing`, source: String(number), target: "standing", value } })),
  ];
  const style = () => [
    { selector: "node", style: {
      width: "data(side)", height: "data(side)", label: "data(label)", "font-size": 24, color: colour("ink"),
      "text-valign": "bottom", "text-margin-y": 2, "text-outline-color": colour("card"), "text-outline-width": 3,
      "background-color": colour("faint"), "border-width": 2, "border-color": colour("faint") } },
    { selector: ".cluster", style: { "background-image": "data(image)", "background-fit": "cover" } },
    { selector: ".standing", style: { shape: "star", "background-color": colour("series-2"), "border-width": 0 } },
    { selector: "edge", style: {
      width: "mapData(value, 0.02, 0.7, 1.5, 9)", "line-color": colour("faint"), opacity: 0.5,
      "target-arrow-color": colour("faint"), "target-arrow-shape": "triangle", "arrow-scale": 1.1, "curve-style": "bezier" } },
    { selector: "edge.under", style: { display: "none" } },
    { selector: ".far", style: { opacity: 0.22 } },
    { selector: "edge.near", style: { "line-color": colour("series-0"), "target-arrow-color": colour("series-0"), opacity: 0.9 } },
    { selector: "node.chosen", style: { "border-width": 6, "border-color": colour("series-1") } },
    { selector: "node.route", style: { "border-width": 5, "border-color": colour("series-1") } },
    { selector: "edge.route", style: { display: "element", width: 6, "line-color": colour("series-1"), "target-arrow-color": colour("series-1"), opacity: 1, "z-index": 9 } },
  ];
  const filter = () => {
    const n = visible().length;
    shown.textContent = `${threshold().toFixed(2)}: ${plural(n, "link")}`;
    least.setAttribute("aria-valuetext", `${threshold().toFixed(2)}, ${plural(n, "link")}`);
    graph?.batch(() => graph.edges().forEach((edge) => edge.toggleClass("under", edge.data("value") < threshold())));
  };
  const clustersOnRoute = (start) => {
    // Clusters on the route of a pose, with standing at the end.
    const route = poses.chain[start];
    if (route === null) return [];
    const near = [start, ...route.map((move) => move[1])].filter((at) => at !== null && at !== STANDING);
    const stops = near.map((at) => String(poses.cluster[at])).concat("standing");
    return stops.filter((stop, at) => at === 0 || stop !== stops[at - 1]);
  };
  const mark = () => {
    graph?.batch(() => {
      graph.elements(".drawn").remove();
      graph.elements().removeClass("far near chosen route");
      if (chosen === null) return;
      const node = graph.getElementById(String(chosen));
      const near = node.connectedEdges().filter((edge) => !edge.hasClass("under"));
      const stops = clustersOnRoute(pose);
      const route = graph.nodes().filter((other) => stops.includes(other.id()));
      graph.elements().not(node).not(near).not(near.connectedNodes()).not(route).addClass("far");
      near.addClass("near");
      node.addClass("chosen");
      route.addClass("route");
      stops.slice(1).forEach((stop, at) => {
        const id = `${stops[at]}-${stop}`;
        const edge = graph.getElementById(id);
        if (edge.nonempty()) edge.removeClass("far near").addClass("route");
        else graph.add({ data: { id: `route-${id}`, source: stops[at], target: stop, value: 0.5 }, classes: "route drawn" });
      });
    });
  };
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.min(x + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${y + 14}px`;
  };
  const start = () => {
    graph = cytoscape({ container: canvas, elements: elements(), style: style(), layout: { name: "preset" },
      minZoom: 0.15, maxZoom: 4, userZoomingEnabled: true });
    filter();
    const near = graph.nodes().union(graph.edges().filter((edge) => edge.data("value") >= 0.05));
    const layout = near.layout({ name: "cose", animate: false, randomize: false, fit: true, padding: 16, nodeOverlap: 30,
      componentSpacing: 40, idealEdgeLength: (edge) => 60 + 140 * (1 - edge.data("value")),
      edgeElasticity: (edge) => 20 + 200 * edge.data("value"), nodeRepulsion: () => 90000, gravity: 0.6, numIter: 600 });
    // The layout draws random numbers if nodes overlap: use the same numbers each time.
    const random = Math.random;
    let drawn = 1;
    Math.random = () => (drawn = (drawn * 16807) % 2147483647) / 2147483647;
    layout.run();
    Math.random = random;
    graph.on("tap", "node.cluster", (event) => choose(Number(event.target.id())));
    graph.on("tap", (event) => { if (event.target === graph) choose(null); });
    graph.on("mouseover", "node.cluster", (event) => {
      const number = Number(event.target.id()), cluster = clusters[number], at = event.originalEvent;
      showTip(`Cluster ${number}: ${plural(cluster.size, "pose")} on ${contacts[poses.contact[cluster.centroid]]}; standing in ${seconds(poses.route[cluster.centroid])}`, at.clientX, at.clientY);
    });
    graph.on("mouseover", "edge", (event) => {
      const { source, target, value } = event.target.data(), at = event.originalEvent;
      showTip(`${source} to ${target}: ${value.toFixed(2)}`, at.clientX, at.clientY);
    });
    graph.on("mouseout", () => { tip.hidden = true; });
    // The wheel scrolls the page; with Ctrl, or by pinching, it zooms the graph.
    canvas.parentElement.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && canvas.contains(event.target)) event.stopPropagation();
    }, { capture: true });
    addEventListener("themechange", () => graph.style(style()));
    mark();
    canvas.dataset.ready = "true";
    window.poseGraph = graph;
  };
  filter();
  showPanel();
  // The layout starts when the reader scrolls near the graph, so that the page opens fast.
  new IntersectionObserver((entries, watcher) => {
    if (entries.some((entry) => entry.isIntersecting)) { watcher.disconnect(); start(); }
  }, { rootMargin: "600px" }).observe(canvas);
})();
