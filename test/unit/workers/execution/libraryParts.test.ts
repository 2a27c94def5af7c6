/** A library that no longer has the parts on which time limits hang is refused when it is loaded. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createEVM, type EVM} from "@ethereumjs/evm";
import {requireBounds} from "../../../../workers/estimate/library/boundedEvm.ts";
import {requireUse, wrapInterpreter} from "../../../../workers/execution/jumpAnalyses.ts";

/** The EVM without one of its parts. */
async function createWithout(name: string): Promise<EVM> {
  return new Proxy(await createEVM(), {
    get: (evm, key) => (key === name ? undefined : Reflect.get(evm, key)),
  });
}

test("an EVM without a part where the deadline is checked is refused by the part's name", async () => {
  requireBounds(await createEVM());
  for (const name of ["runCall", "runPrecompile", "_opcodeMap"])
    await assert.rejects(
      createWithout(name).then(requireBounds),
      new RegExp(`expected the EVM to have ${name} \\(\\w+\\), got undefined`),
    );
});

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
