import assert from "node:assert/strict";
import {test} from "node:test";
import {createEVM, type EVM} from "@ethereumjs/evm";
import fc from "fast-check";
import {Deadline} from "../../../../workers/estimate/call/deadline.ts";
import {JumpAnalyses, keepJumpAnalyses} from "../../../../workers/execution/jumpAnalyses.ts";
import {assemble, OP, pushWidth} from "../../../support/estimates/bytecode.ts";

function createDeadline(limitMs: number): Deadline {
  const deadline = new Deadline(limitMs);
  deadline.start();
  return deadline;
}

/** How often a code of one byte or more was analysed: its first opcode is looked up each time. */
class Counter {
  readonly analyses = new JumpAnalyses(createDeadline(60_000));
  made = 0;

  of(code: Uint8Array): unknown {
    const bytes = code.length;
    let lookedUp = 0;
    const analysis = this.analyses.of(code, () => ++lookedUp);
    if (lookedUp === bytes) this.made++;
    else assert.equal(lookedUp, 0);
    return analysis;
  }
}

test("a code is analysed once, another code of the same bytes for itself", () => {
  const counter = new Counter();
  const [first, second] = [new Uint8Array(100), new Uint8Array(100)];
  const analysis = counter.of(first);
  assert.equal(counter.of(first), analysis);
  assert.notEqual(counter.of(second), analysis);
  assert.equal(counter.of(first), analysis);
  assert.equal(counter.made, 2);
});

test("a view of larger memory is analysed every time", () => {
  const counter = new Counter();
  const view = new Uint8Array(1000).subarray(10, 20);
  counter.of(view);
  counter.of(view);
  assert.equal(counter.made, 2);
});

test("what is kept is bounded: by the codes' bytes, and for tiny codes by their number", () => {
  for (const [bytes, enough] of [
    [300_000, 4],
    [1, 40_000],
  ] as const) {
    const counter = new Counter();
    const first = new Uint8Array(bytes);
    counter.of(first);
    for (let code = 0; code < enough; code++) counter.of(new Uint8Array(bytes));
    const {made} = counter;
    counter.of(first);
    assert.equal(counter.made, made + 1, `${bytes} bytes`);
  }
});

test("jumps, pushes and opcodes are where the library finds them", async () => {
  const evm = await createEVM();
  const prototype = await meetInterpreter(evm);
  const opcode = fc.oneof(
    fc.constantFrom<number>(OP.JUMPDEST, OP.JUMPI, OP.STOP, 0x60, 0x61, 0x65, 0x66, 0x7f, 0x5f, 0x80),
    fc.nat(255),
  );
  fc.assert(
    fc.property(fc.array(opcode, {maxLength: 150}), bytes => {
      const code = Uint8Array.from(bytes);
      const library = prototype._getValidJumpDestinations.call(
        {_evm: undefined, common: evm.common, lookupOpInfo: (code: number) => code},
        code,
      );
      const own = new JumpAnalyses(createDeadline(60_000)).of(code, opcode => opcode);
      assert.deepEqual(own.jumps, library.jumps);
      assert.deepEqual({...own.pushes}, {...library.pushes});
      assert.deepEqual({...own.opcodesCached}, {...library.opcodesCached});
    }),
    {numRuns: 1000},
  );
});

test("2.4 MB of pushes are given up when the time is over, in the frame that jumps", async () => {
  const evm = await createEVM();
  const code = assemble(0n, 0n, OP.JUMPI, Buffer.alloc(2_400_000, pushWidth(1n, 1)));
  keepJumpAnalyses(evm, createDeadline(0));
  await assert.rejects(evm.runCode({code, gasLimit: 1000n}), {name: "TimeLimitError"});
  // Another EVM of the thread knows nothing of it.
  const {exceptionError} = await (await createEVM()).runCode({code, gasLimit: 1000n});
  assert.equal(exceptionError?.error, "out of gas");
});

interface LibraryAnalyser {
  _getValidJumpDestinations(code: Uint8Array): {
    jumps: Uint8Array;
    pushes: Record<number, bigint>;
    opcodesCached: unknown[];
  };
}

/** The class's prototype, which only the handler of an opcode comes to see. */
async function meetInterpreter(evm: EVM): Promise<LibraryAnalyser> {
  let met: LibraryAnalyser | undefined;
  const opcode = 0x0c;
  const meeting = await createEVM({
    common: evm.common,
    customOpcodes: [
      {
        opcode,
        opcodeName: "MEET",
        baseFee: 0,
        logicFunction: ({interpreter}) => {
          met = Object.getPrototypeOf(interpreter) as LibraryAnalyser;
        },
      },
    ],
  });
  await meeting.runCode({code: Uint8Array.of(opcode)});
  return met ?? assert.fail("no interpreter came");
}
