/** A library that no longer has the parts on which time limits hang is refused when it is loaded. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createEVM} from "@ethereumjs/evm";
import {requireUse, wrapInterpreter} from "../../../../workers/execution/jumpAnalyses.ts";

test("an interpreter whose analysis has another name, or is not asked for, is refused", async () => {
  const lookupOpInfo = (): void => {};
  assert.throws(
    () => wrapInterpreter({lookupOpInfo} as never),
    /expected the interpreter to have _getValidJumpDestinations \(function\), got undefined/,
  );
  await requireUse(await createEVM());
  const idle = await createEVM();
  idle.runCode = async () => ({}) as never;
  await assert.rejects(requireUse(idle), /expected a jump to ask for _getValidJumpDestinations, got no call/);
});
