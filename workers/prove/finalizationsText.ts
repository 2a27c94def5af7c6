/** The text of chain_getFinalizations (docs/json-rpc.md). */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {toHex} from "../../storage/hex.ts";
import {
  describeLayer1,
  FINALIZATION_TEXT_BYTES,
  type FinalizationsCall,
} from "../messages/finalizationsCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {YieldPoint} from "./yieldPoint.ts";

/** Appends an array. @throws StoreError for a damaged record */
export function writeFinalizations(
  text: AnswerText,
  store: StateReader,
  {from, finalized, count}: FinalizationsCall,
  yieldPoint: YieldPoint,
): void {
  text.text("[");
  let separator = "";
  for (const finalization of store.finalizations.list(from, count)) {
    yieldPoint.check();
    const {startBlock, endBlock} = finalization;
    if (endBlock > finalized) break;
    const {stateRoot} = store.headerRecordOrThrow(endBlock);
    const fields = {
      startBlock: startBlock === undefined ? null : `0x${startBlock.toString(16)}`,
      endBlock: `0x${endBlock.toString(16)}`,
      stateRoot: toHex(stateRoot),
      l1: describeLayer1(finalization),
    };
    text.reserve(FINALIZATION_TEXT_BYTES);
    text.ascii(separator + JSON.stringify(fields));
    separator = ",";
  }
  text.text("]");
}
