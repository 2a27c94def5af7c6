/** Announced blocks of anvil, a real node. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {HeadSignal, type HeadsEvent} from "../../../../nodes/rpc/newHeads.ts";
import {FaultyProxy} from "../../../support/nodes/faultyProxy.ts";
import {Anvil} from "../../../support/processes/anvil.ts";
import {notRun} from "../../../support/processes/notRun.ts";
import {waitUntil} from "../../../support/wait.ts";

/** Where it must not be over, on any machine. */
const NEVER_MS = 3_600_000;

test("each block that anvil mines is a signal, through a proxy too, and its end is one event", async t => {
  const anvil = await Anvil.start([]);
  if (typeof anvil === "string") return notRun(t, anvil);
  const proxy = await FaultyProxy.start({target: anvil.url, seed: 1, share: 1});
  const never = new AbortController().signal;
  const events: HeadsEvent[] = [];
  const settings = {
    urls: [proxy.url.replace("http:", "ws:")],
    headers: {},
    pollMs: NEVER_MS,
    timeoutMs: NEVER_MS,
  };
  const heads = new HeadSignal(settings, event => events.push(event), {firstMs: 1, longestMs: 50});
  await waitUntil("an event", () => events.length >= 1);
  for (let block = 1; block <= 3; block++) {
    const waiting = heads.next(never);
    await anvil.request("evm_mine");
    await waiting;
  }
  await anvil.stop();
  await waitUntil("two events", () => events.length >= 2);
  assert.deepEqual(
    events.map(({state}) => state),
    ["subscribed", "polling"],
  );
  await heads.close();
  await proxy.stop();
});
