/** The text of chain_getCodes (docs/json-rpc.md). */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {toHex} from "../../storage/hex.ts";
import {MAX_CODES_BYTES, readCodeHashes} from "../messages/codesCall.ts";
import {CallFailure} from "../messages/failure.ts";
import type {AnswerText} from "./answerText.ts";
import type {YieldPoint} from "./yieldPoint.ts";

/**
 * Appends the codes in the order of the hashes, null for unknown ones, up to MAX_CODES_BYTES.
 * @throws CallFailure if the first code alone is longer; StoreError for a damaged record
 */
export function writeCodes(text: AnswerText, store: StateReader, call: Buffer, yieldPoint: YieldPoint): void {
  let bytes = 0;
  let separator = "[";
  for (const hash of readCodeHashes(call)) {
    yieldPoint.check();
    const code = store.findCode(hash);
    bytes += code?.length ?? 0;
    if (bytes > MAX_CODES_BYTES) {
      if (bytes > (code?.length ?? 0)) break;
      const detail = `code ${toHex(hash)} has ${bytes} bytes: an answer has at most ${MAX_CODES_BYTES} of them`;
      throw new CallFailure({failure: "CALL_INVALID", detail});
    }
    text.text(separator);
    separator = ",";
    if (code === undefined) text.text("null");
    else {
      text.reserve(2 * code.length + 4);
      text.quotedHex(code, 0, code.length);
    }
  }
  text.text("]");
}
