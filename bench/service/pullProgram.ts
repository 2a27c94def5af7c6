/**
 * Pulls a state and verifies it, in a process of its own, so that its time and memory are separate:
 *
 *   node pullProgram.js '{"url": "http://...", "tree": "all", "block": 300, "root": "0x...", "headers": {}}'   ->   one PullFigures as JSON
 */
import {readFileSync} from "node:fs";
import {createProofClient, pullState, sha256Suite} from "../../client/client.ts";

export interface PullOrder {
  readonly url: string;
  readonly tree: string;
  readonly block: number;
  /** State root of the block. */
  readonly root: string;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PullFigures {
  readonly accounts: number;
  readonly slots: number;
  readonly seconds: number;
  /** User and system time. */
  readonly cpuSeconds: number;
  /** Of the bodies of all answers. */
  readonly bytes: number;
  readonly requests: number;
  /** The most that the process ever took. */
  readonly peakRssBytes: number;
}

const {url, tree, block, root, headers} = JSON.parse(process.argv[2] as string) as PullOrder;
let [bytes, requests, accounts, slots] = [0, 0, 0, 0];
const client = createProofClient({
  url,
  suite: sha256Suite,
  trustedRoot: root,
  headers,
  fetch: async (resource, init) => {
    const response = await fetch(resource, init);
    bytes += Number(response.headers.get("content-length"));
    requests++;
    return response;
  },
});
const startMs = performance.now();
for await (const {leaves} of pullState(client, {tree, block}))
  for (const {role} of leaves)
    if (role === "account") accounts++;
    else if (role === "slot") slots++;
const seconds = (performance.now() - startMs) / 1000;
const {userCPUTime, systemCPUTime} = process.resourceUsage();
// Not `maxRSS`, which begins with that of the process that has started this one.
const [, peakKb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
const figures: PullFigures = {
  accounts,
  slots,
  seconds,
  cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
  bytes,
  requests,
  peakRssBytes: Number(peakKb) * 1024,
};
process.stdout.write(JSON.stringify(figures));
