/**
 * From bytes to JSON text: first only the digits, then a whole proof whose pages are all in memory.
 *
 * Input of the whole proofs: 16 accounts of block 0 at the head, with every page that they need in a map.
 */

import {ACCOUNT_VALUE_BYTES, TREE_HEIGHT} from "../../storage/hash/suite.ts";
import type {PageReader} from "../../storage/page/pages.ts";
import {decodeStoredAccount, encodeAccountValueInto} from "../../storage/tree/account.ts";
import {LeafPath, PRE_IMAGE_BYTES, pathBytes} from "../../storage/tree/leafPath.ts";
import {accountTree} from "../../storage/tree/tree.ts";
import {AnswerText} from "../../workers/prove/answerText.ts";
import {NodeText} from "../../workers/prove/nodeText.ts";
import {ProofText} from "../../workers/prove/proofText.ts";
import {addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import {type Stage, spread} from "./stage.ts";

const PROOFS = 16;

export function createTextStage({store: {reader}, accounts, blocks}: BenchStore): Stage {
  const {suite, empty} = reader;
  const nodeText = new NodeText(pathBytes(suite));
  const {nodes} = nodeText;
  for (let i = 0; i < nodes.length; i++) nodes[i] = i * 31;
  const path = new LeafPath(suite, empty, nodes);
  const quotePath = (): void => {
    const end = nodeText.quote(path.preImages, TREE_HEIGHT - 1, PRE_IMAGE_BYTES, 0);
    nodeText.quote(path.siblingOpening, 2, suite.leafOpeningBytes, end);
  };

  const inMemory = new Map<number, Buffer>();
  const memory: PageReader = {
    read(page) {
      let body = inMemory.get(page);
      if (body === undefined) {
        body = reader.pages.read(page);
        inMemory.set(page, body);
      }
      return body;
    },
  };
  const tree = accountTree({pages: memory, hints: reader.hints}, reader.blockOrThrow(blocks).accounts);
  const hKeys = Array.from({length: PROOFS}, (_, i) => suite.hashAddress(addressAt(spread(i, accounts))));
  const proofs = new ProofText(suite, empty);
  const text = new AnswerText();
  const value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  const writeValue = (out: AnswerText, leaf: Uint8Array): void => {
    encodeAccountValueInto(value, 0, decodeStoredAccount(leaf), empty);
    out.quotedHex(value, 0, ACCOUNT_VALUE_BYTES);
  };
  const writeProofs = (): void => {
    text.clear();
    for (const hKey of hKeys) proofs.write(text, tree, hKey, writeValue);
  };
  writeProofs();
  const bytesPerProof = Math.round(text.size / PROOFS);
  return {
    tasks: [
      {
        name: `digits of 41 nodes, ${nodes.length} bytes`,
        units: PROOFS,
        run: () => {
          for (let i = 0; i < PROOFS; i++) quotePath();
        },
      },
      {name: `proof from memory, ${bytesPerProof} bytes of text`, units: PROOFS, run: writeProofs},
      {name: `copy of a task's text, ${PROOFS} proofs`, units: PROOFS, run: () => text.take()},
    ],
  };
}
