/** An answer of chain_getLeaves ends before the leaf that would make it too long, and the next one begins there. */
import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {verifyLeaves} from "../../../client/leaves/leafRange.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {accountTree} from "../../../storage/tree/tree.ts";
import {packLeaves} from "../../../workers/messages/leavesCall.ts";
import {ProofForm, packedBytes} from "../../../workers/messages/packedCall.ts";
import {AnswerText} from "../../../workers/prove/answerText.ts";
import {LeavesProver} from "../../../workers/prove/leavesProver.ts";
import {MultiProver} from "../../../workers/prove/multiProver.ts";
import {createLines} from "../../support/chains/serviceLines.ts";
import {importLines} from "../../support/stores/importedStore.ts";

test("answers of any length put the tree together, each as long as it may be, and with one leaf at least", async () => {
  const folder = await mkdtemp(join(tmpdir(), "proofd-limits-"));
  const directory = join(folder, "db");
  await importLines(directory, createLines(0, 4));
  const {reader, ...store} = await openReader(directory);
  try {
    const block = 4;
    const record = reader.blockOrThrow(block);
    const tree = accountTree(reader, record.accounts);
    const {nextFreeNode} = tree.root;
    const text = new AnswerText();
    const call = Buffer.alloc(packedBytes(1));
    for (const limit of [1, 50, 400, 100_000]) {
      const prover = new LeavesProver(reader, new MultiProver(reader), limit);
      let from = 0;
      let answers = 0;
      const lengths: number[] = [];
      for (; from < nextFreeNode; answers++) {
        packLeaves(call, 0, {block, address: undefined, from, count: nextFreeNode}, ProofForm.LEAVES_BYTES);
        text.clear();
        const {accounts} = prover.write(text, tree, call);
        const request = {tree: "accounts", from, count: nextFreeNode};
        const {end, leaves} = verifyLeaves(sha256Suite, record.stateRoot, request, text.take());
        assert.equal(end, from + leaves.length);
        assert.equal(accounts, leaves.length);
        lengths.push(leaves.length);
        from = end;
      }
      if (limit === 1) assert.equal(answers, nextFreeNode);
      if (limit === 400) assert.ok(answers > 2 && Math.min(...lengths.slice(0, -1)) > 3, `${lengths}`);
      if (limit === 100_000) assert.equal(answers, 1);
    }
  } finally {
    await store.close();
    await rm(folder, {recursive: true});
  }
});

async function openReader(directory: string) {
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  return {reader: store.reader, close: () => store.close()};
}
