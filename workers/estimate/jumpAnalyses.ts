/**
 * Where code may jump to, kept from frame to frame and call to call.
 *
 * @ethereumjs' interpreter finds it anew in every frame, 0.1 ms for a token and 1 ms for 24 KB of code, and offers no
 * place for a cache: its method is wrapped, once per thread, when the first interpreter is met.
 */
import type {EVM} from "@ethereumjs/evm";

/** What the library's analysis gives; it only reads it. */
type Analysis = unknown;

/** The part of the library's Interpreter that is used here. */
interface Analyser {
  readonly _evm: EVM;
  _getValidJumpDestinations(code: Uint8Array): Analysis;
}

/** An analysis takes about 30 times the code's bytes. */
const MAX_ANALYSED_BYTES = 1 << 20;
/** What an entry takes beside, in bytes of code. */
const ENTRY_BYTES = 32;

/** By the code's own array: the cache of codes (heldState.ts) hands out the same one every time. */
export class JumpAnalyses {
  private readonly analyses = new Map<Uint8Array, Analysis>();
  private analysedBytes = 0;

  of(code: Uint8Array, analyse: () => Analysis): Analysis {
    // Initcode is a view of its creator's memory: another one each time, and it would hold on to all of that memory.
    if (code.byteLength !== code.buffer.byteLength) return analyse();
    const kept = this.analyses.get(code);
    if (kept !== undefined) return kept;
    const analysis = analyse();
    const bytes = code.length + ENTRY_BYTES;
    if (this.analysedBytes + bytes > MAX_ANALYSED_BYTES) {
      this.analyses.clear();
      this.analysedBytes = 0;
    }
    this.analyses.set(code, analysis);
    this.analysedBytes += bytes;
    return analysis;
  }
}

const keepers = new WeakMap<EVM, JumpAnalyses>();
const wrapped = new WeakSet<object>();

/** From now on, interpreters of `evm` keep their analyses. @param interpreter - any one */
export function keepJumpAnalyses(evm: EVM, interpreter: Analyser): void {
  keepers.set(evm, new JumpAnalyses());
  const prototype = Object.getPrototypeOf(interpreter) as Analyser;
  if (wrapped.has(prototype)) return;
  wrapped.add(prototype);
  const analyse = prototype._getValidJumpDestinations;
  prototype._getValidJumpDestinations = function (this: Analyser, code) {
    const kept = keepers.get(this._evm);
    return kept === undefined ? analyse.call(this, code) : kept.of(code, () => analyse.call(this, code));
  };
}
