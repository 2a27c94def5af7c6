/** Renders the proof of a key: the path of its leaf or, if it is absent, of the two neighbouring leaves. */
import {encodeHex} from "../../client/bytes/hex.ts";
import type {OpenedKey, OpenedLeaf} from "../../client/compact/openedPaths.ts";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import {element} from "../element.ts";
import {shorten, writeWhole} from "../figureText.ts";
import {drawPath} from "./pathDrawing.ts";
import {followPath, type LeafPath} from "./pathSteps.ts";

/** @param hKey - hash of the requested key. @param root - root of its tree */
export function drawKey(suite: HashSuite, key: OpenedKey, hKey: Uint8Array, root: string): HTMLElement {
  const {nextFreeNode} = key;
  const draw = (leaf: OpenedLeaf, role: string) =>
    drawLeaf(role, leaf, followPath(suite, leaf, nextFreeNode), root);
  if ("leaf" in key) return element("div", {class: "paths"}, draw(key.leaf, "leaf"));
  const {left, right} = key;
  return element(
    "div",
    {},
    element(
      "p",
      {},
      "The key is absent. The leaves are a list in the order of their hashed keys, and the two below are neighbours in it: ",
      `the left one's next is ${writeWhole(right.leafIndex)}, the right one's prev is ${writeWhole(left.leafIndex)}. `,
      "The hashed key would lie between them:",
    ),
    element(
      "ol",
      {class: "between"},
      drawHashedKey("left leaf", left.hKey),
      drawHashedKey("this key", hKey, "absent"),
      drawHashedKey("right leaf", right.hKey),
    ),
    element("div", {class: "paths"}, draw(left, "left leaf"), draw(right, "right leaf")),
  );
}

function drawHashedKey(name: string, hKey: Uint8Array, kind = ""): HTMLElement {
  return element("li", {class: kind}, element("span", {}, name), element("code", {}, encodeHex(hKey)));
}

function drawLeaf(role: string, leaf: OpenedLeaf, path: LeafPath, root: string): HTMLElement {
  const name = `${role} ${writeWhole(leaf.leafIndex)}${leaf.leafIndex === 0 ? ", the head" : leaf.leafIndex === 1 ? ", the tail" : ""}`;
  return element(
    "figure",
    {},
    drawPath(path, name, root),
    element(
      "figcaption",
      {},
      `prev ${writeWhole(leaf.prev)}, next ${writeWhole(leaf.next)}, hKey `,
      element("code", {title: encodeHex(leaf.hKey)}, shorten(encodeHex(leaf.hKey))),
    ),
    drawTable(path),
  );
}

function drawTable({steps}: LeafPath): HTMLElement {
  const heads = ["Height", "Node of the path", "Sibling", "Lies"].map(name =>
    element("th", {scope: "col"}, name),
  );
  const rows = steps.map(({height, node, side, isEmpty, sibling}) =>
    element(
      "tr",
      {class: isEmpty ? "faint" : ""},
      element("td", {}, String(height)),
      element("td", {}, element("code", {title: node}, shorten(node))),
      element("td", {}, isEmpty ? "empty" : element("code", {title: sibling}, shorten(sibling))),
      element("td", {}, side),
    ),
  );
  return element(
    "details",
    {},
    element("summary", {}, "The 40 nodes as a table"),
    element(
      "table",
      {"aria-label": "The 40 nodes of the path"},
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows),
    ),
  );
}
