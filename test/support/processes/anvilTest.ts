/** The tests of a file that share one anvil. */
import {after, before, test} from "node:test";
import {Anvil} from "./anvil.ts";
import {notRun} from "./notRun.ts";

/**
 * Starts anvil before the tests of a file, and stops it after them.
 *
 * @returns declares a test, which is not run where there is no anvil
 */
export function createAnvilTest(
  args: readonly string[],
): (title: string, work: (anvil: Anvil) => Promise<void>) => void {
  let anvil: Anvil | string;
  before(async () => {
    anvil = await Anvil.start(args);
  });
  after(async () => {
    if (typeof anvil !== "string") await anvil.stop();
  });
  return (title, work) => {
    test(title, async t => (typeof anvil === "string" ? notRun(t, anvil) : work(anvil)));
  };
}
