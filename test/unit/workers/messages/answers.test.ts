import assert from "node:assert/strict";
import {test} from "node:test";
import {
  answerStart,
  encodeResponse,
  openResult,
  RESPONSE_END,
  SEPARATOR,
} from "../../../../workers/messages/answers.ts";

test("a response that is opened and closed is the one that is written whole", () => {
  const whole = encodeResponse('"a\u00e9"', "result", '{"x":1}');
  assert.equal(whole, `{"jsonrpc":"2.0","id":"a\u00e9","result":{"x":1}}`);
  assert.equal(`${openResult('"a\u00e9"')}{"x":1}${RESPONSE_END}`, whole);
});

test("neighbouring answers are a part of a batch, and each is cut out by the ends", () => {
  const answers = [encodeResponse("1", "result", "true"), "", encodeResponse("3", "error", "{}")];
  let text = "";
  const ends = Uint32Array.from(answers, answer => {
    if (answer !== "") text += answer + SEPARATOR;
    return text.length;
  });
  assert.deepEqual(
    JSON.parse(`[${text.slice(0, -SEPARATOR.length)}]`).map(({id}: {id: number}) => id),
    [1, 3],
  );
  const cut = answers.map((_, call) => text.slice(answerStart(ends, call), ends[call]));
  assert.deepEqual(cut, [`${answers[0]},`, "", `${answers[2]},`]);
});
