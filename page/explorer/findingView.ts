/** Renders a proof: verdict, values, paths, and texts to copy. */
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {count} from "../../client/bytes/values.ts";
import {hashWord, word} from "../../client/hash/hashSuites.ts";
import type {Proven, ProvenAccount} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import {element} from "../element.ts";
import {shorten, writeWhole} from "../figureText.ts";
import {encodeVerifierCall} from "./calldata.ts";
import {type Copy, drawCopy} from "./copies.ts";
import type {Finding} from "./finding.ts";
import {drawKey} from "./keyView.ts";
import {writeCurl, writeViem} from "./snippets.ts";

/** Byte range in an account's value. */
const STORAGE_ROOT = [64, 96] as const;
const HEADLINE_SLOTS = 2;

export function drawFinding(finding: Finding, url: string): HTMLElement {
  const {verdict} = finding;
  return element(
    "div",
    {class: "card"},
    drawVerdict(finding),
    ...("proven" in verdict ? [drawValues(finding, verdict.proven.account, verdict.proven.slots)] : []),
    ...drawPaths(finding),
    element("h3", {}, "Take it with you"),
    ...describeCopies(finding, url).map(drawCopy),
  );
}

function drawVerdict({request, verdict, block, root, isOwnRoot}: Finding): HTMLElement {
  const isProven = "proven" in verdict;
  const title = isProven
    ? `${isOwnRoot ? "Proved" : "Verified under this server's own root"}: ${describeProven(request, verdict.proven)}`
    : "Refused";
  const tone = !isProven ? "bad" : isOwnRoot ? "good" : "plain";
  const {l1} = block;
  const what =
    l1?.stateRoot === undefined ? "the block's hash" : `${l1.stateRoot === root ? "this" : "another"} root`;
  const recorded = `Layer 1 recorded ${what} in block ${l1?.blockNumber}, says the server.`;
  const trust = isOwnRoot
    ? "You gave the root, so no answer of this server was taken on trust."
    : "The root comes from this server. Compare it with the root that layer 1 has recorded for the block.";
  const outcome = isProven
    ? `Verified in this page at block ${writeWhole(block.number)}, against the root`
    : `At block ${writeWhole(block.number)}: ${verdict.refusal.message}. Compared with the root`;
  return element(
    "div",
    {class: `verdict ${tone}`, id: "verdict", tabindex: "-1"},
    element("h3", {}, title),
    element("p", {}, outcome, " ", element("code", {}, root)),
    element("p", {class: "hint"}, trust, ...(l1 === undefined ? [] : [` ${recorded}`])),
  );
}

/** A short summary: the values of the first slots, otherwise whether the account exists. */
function describeProven({storageKeys}: ProofRequest, {account, slots}: Proven): string {
  if (account === undefined) return "there is no such account";
  if (storageKeys.length === 0) return "the account exists";
  const values = storageKeys.slice(0, HEADLINE_SLOTS).map((key, i) => {
    const value = slots[i] ?? 0n;
    return `slot ${shorten(key)} is ${value < 10n ** 30n ? writeWhole(value) : encodeHex(word(value))}`;
  });
  const others = storageKeys.length - values.length;
  return [...values, ...(others > 0 ? [`and ${count(others, "more slot")} below`] : [])].join(", ");
}

function drawValues(
  {request}: Finding,
  account: ProvenAccount | undefined,
  slots: readonly (bigint | undefined)[],
): HTMLElement {
  const rows: [string, ...(string | Node)[]][] = [["address", code(request.address)]];
  if (account !== undefined)
    rows.push(
      ["nonce", writeWhole(account.nonce)],
      ["balance", `${writeWhole(account.balance)} wei`, faint(` ${writeEther(account.balance)} ether`)],
      ["storageRoot", code(account.storageRoot)],
      ["codeHash", code(account.codeHash)],
      ["keccakCodeHash", code(account.keccakCodeHash)],
      ["codeSize", `${writeWhole(account.codeSize)} ${account.codeSize === 1n ? "byte" : "bytes"}`],
      ["leaf index", writeWhole(account.leafIndex)],
    );
  request.storageKeys.forEach((key, i) => {
    const value = slots[i];
    rows.push([
      `slot ${key}`,
      ...(value === undefined
        ? ["zero", faint(" proved absent")]
        : [code(encodeHex(word(value))), faint(` ${writeWhole(value)}`)]),
    ]);
  });
  return element(
    "dl",
    {class: "values"},
    ...rows.flatMap(([name, ...shown]) => [element("dt", {}, name), element("dd", {}, ...shown)]),
  );
}

function drawPaths({suite, request, paths, root}: Finding): HTMLElement[] {
  if (paths === undefined) return [];
  const {account, slots} = paths;
  const hKey = suite.hashAddress(decodeHex(request.address));
  const path = drawDetails("Path of the account", () => drawKey(suite, account, hKey, root));
  path.open = true;
  const storageRoot = "leaf" in account ? encodeHex(account.value.subarray(...STORAGE_ROOT)) : "";
  const slotPaths = slots.map((slot, i) => {
    const key = request.storageKeys[i] as string;
    const draw = () => drawKey(suite, slot, hashWord(suite, BigInt(key)), storageRoot);
    return drawDetails(`Path of slot ${key}, in the account's storage`, draw);
  });
  return [element("h3", {}, "From the root to the leaf"), path, ...slotPaths];
}

/** @param draw - called when the details are opened first: a drawing has about 200 shapes */
function drawDetails(title: string, draw: () => HTMLElement): HTMLDetailsElement {
  const details = element("details", {class: "key"}, element("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(draw());
  });
  return details;
}

function describeCopies({suite, request, block, root, answer, verdict}: Finding, url: string): Copy[] {
  const copies: Copy[] = [
    {
      title: "curl",
      note: "The same request. The answer names the block and its root.",
      text: writeCurl(url, request, block.number),
    },
    {
      title: "viem",
      note: "Asks and verifies, with the package proofd-client.",
      text: writeViem(url, suite, request, block.number, root),
    },
  ];
  if ("refusal" in verdict) return copies;
  const {signature, calldata} = encodeVerifierCall(suite, root, request, answer);
  const contract = suite.name === "sha256" ? "Sha256ProofVerifier" : "Poseidon2ProofVerifier";
  const note = `Calldata for ${signature} of ${contract}, ${writeWhole(calldata.length / 2 - 1)} bytes with the compact proof.`;
  return [...copies, {title: "Solidity calldata", note, text: calldata}];
}

function code(text: string): HTMLElement {
  return element("code", {}, text);
}

function faint(text: string): HTMLElement {
  return element("span", {class: "faint"}, text);
}

function writeEther(wei: bigint): string {
  const [whole, part] = [wei / 10n ** 18n, wei % 10n ** 18n];
  const digits = part.toString().padStart(18, "0").replace(/0+$/, "");
  return digits === "" ? writeWhole(whole) : `${writeWhole(whole)}.${digits}`;
}
