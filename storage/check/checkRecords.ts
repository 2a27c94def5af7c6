/** Checks every record: checksum, that block hashes lead to their blocks, and that finalizations are in order. */
import {decodeFinalization} from "../block/finalization.ts";
import {decodeSlice} from "../block/sliceBlock.ts";
import type {StateReader} from "../block/stateReader.ts";
import {keccak256} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import {hashOfKey, isKeyOf, META, nameOfKey, numberOfKey, pageOfLeafKeys, SLICE} from "../record/layout.ts";
import {openRecord} from "../record/record.ts";
import {decodeNumber} from "../record/recordBody.ts";
import {decodeLeafKeys} from "../tree/leafKeys.ts";
import {type Findings, toFinding} from "./findings.ts";

export async function checkRecords(
  store: StateReader,
  records: Iterable<[key: Buffer, value: Buffer]>,
  findings: Findings,
): Promise<boolean> {
  try {
    for (const [key, value] of records) {
      try {
        const body = openRecord(key, value);
        if (isKeyOf("hash", key)) checkHash(store, key, body, findings);
        else if (key.equals(META.layer1))
          store.finalizations.last(); // it is counted, so it must exist
        else if (isKeyOf("keys", key)) {
          // Some of these keys may belong to leaves that no remaining block has.
          const {owner, page} = pageOfLeafKeys(key);
          decodeLeafKeys(owner, page, body);
        } else if (isKeyOf("node", key) && !isSame(keccak256(body), hashOfKey(key)))
          findings.report(nameOfKey(key), "it has another hash");
        else if (key.equals(SLICE)) decodeSlice(body);
        else if (isKeyOf("finalization", key)) checkFinalization(store, key, body, findings);
      } catch (error) {
        findings.report(nameOfKey(key), toFinding(error));
      }
      if (!(await findings.pause("all records"))) return false;
    }
  } catch (error) {
    findings.report("all records", toFinding(error));
  }
  return true;
}

/** Checks one record of a block hash. It also finds that the newest block's record is missing. */
function checkHash(store: StateReader, key: Buffer, body: Buffer, findings: Findings): void {
  const block = decodeNumber(key, body);
  const hash = store.readHeaderRecord(block)?.header.hash;
  if (hash === undefined)
    findings.report(nameOfKey(key), `it leads to block ${block}, which is not in the store`);
  else if (Buffer.compare(hash, hashOfKey(key)) !== 0)
    findings.report(nameOfKey(key), `it leads to block ${block}, which has the hash ${toHex(hash)}`);
}

/** Checks one finalization: it is counted, ends after the one before, and at a block that is stored and finalized. */
function checkFinalization(store: StateReader, key: Buffer, body: Buffer, findings: Findings): void {
  const index = numberOfKey(key);
  const {endBlock} = decodeFinalization(index, body);
  const report = (what: string): void => findings.report(nameOfKey(key), what);
  const count = store.finalizations.count();
  if (index >= count) {
    report(`it is not counted: the layer1 record counts ${count}`);
    return;
  }
  const before = index === 0 ? -1 : store.finalizations.read(index - 1).endBlock;
  if (endBlock <= before) report(`it ends at block ${endBlock}, the one before at ${before}`);
  if (store.readHeaderRecord(endBlock) === undefined)
    report(`it ends at block ${endBlock}, which is not in the store`);
  const finalized = store.readFinalized() ?? -1;
  if (endBlock > finalized)
    report(`it ends at block ${endBlock}, but blocks are finalized up to ${finalized}`);
}
