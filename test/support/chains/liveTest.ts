/** Tests that need a chain on anvil. Without anvil they are skipped, and say why. */
import {type TestContext, test} from "node:test";
import {notRun} from "../processes/notRun.ts";
import type {LiveChain} from "./liveChain.ts";

type LiveTest = (title: string, body: (live: LiveChain, t: TestContext) => Promise<void>) => void;

/** @param readChain - called when a test runs. A text says why there is no chain */
export function createLiveTest(readChain: () => LiveChain | string): LiveTest {
  return (title, body) => {
    test(title, async t => {
      const chain = readChain();
      if (typeof chain === "string") {
        notRun(t, chain);
        return;
      }
      await body(chain, t);
    });
  };
}
