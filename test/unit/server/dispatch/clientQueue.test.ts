import assert from "node:assert/strict";
import {describe, test} from "node:test";
import fc from "fast-check";
import {ClientQueue} from "../../../../server/dispatch/clientQueue.ts";

interface Element {
  readonly client: string;
  readonly name: string;
}

function fill(names: string): ClientQueue<Element> {
  const queue = new ClientQueue<Element>();
  for (const name of names.split(" ")) queue.push({client: name.slice(0, 1), name});
  return queue;
}

function drain(queue: ClientQueue<Element>): string {
  const names: string[] = [];
  while (queue.length > 0) {
    const next = queue.peek();
    const element = queue.shift();
    assert.equal(next, element);
    names.push(element?.name ?? "none");
  }
  assert.equal(queue.shift(), undefined);
  assert.equal(queue.peek(), undefined);
  return names.join(" ");
}

describe("ClientQueue", () => {
  test("clients take turns, one element each, in the order in which they came", () => {
    assert.equal(drain(fill("a1 a2 a3 b1 c1 a4 b2")), "a1 b1 c1 a2 b2 a3 a4");
  });

  test("a client that comes back goes to the end of the order", () => {
    const queue = fill("a1 b1 b2");
    assert.equal(queue.shift()?.name, "a1");
    queue.push({client: "a", name: "a2"});
    assert.equal(drain(queue), "b1 a2 b2");
  });

  test("removed elements leave the others where they were", () => {
    const queue = fill("a1 b1 a2 c1 a3 b2");
    queue.remove("a", ({name}) => name !== "a2");
    queue.remove("c", () => true);
    queue.remove("d", () => true);
    assert.equal(queue.length, 3);
    assert.deepEqual(
      ["a", "b", "c", "d"].map(client => queue.countOf(client)),
      [1, 2, 0, 0],
    );
    assert.equal(drain(queue), "a2 b1 b2");
  });

  test("what is ahead of a client is what leaves before an element that it adds", () => {
    const client = fc.constantFrom("a", "b", "c", "d");
    fc.assert(
      fc.property(fc.array(fc.oneof(client, fc.constant(null)), {maxLength: 40}), client, (steps, mine) => {
        const queue = new ClientQueue<Element>();
        for (const step of steps) {
          if (step === null) queue.shift();
          else queue.push({client: step, name: "other"});
        }
        const ahead = queue.countAhead(mine);
        queue.push({client: mine, name: "mine"});
        let left = 0;
        while (queue.shift()?.name !== "mine") left++;
        // Of clients with more than this one, the last turn may come before or after it.
        assert.ok(left <= ahead && left >= ahead - 3, `${left} left before it, ${ahead} were expected`);
      }),
    );
  });

  test("an element that costs several turns lets others have theirs first, unless its client is alone", () => {
    const queue = new ClientQueue<Element>(10, ({name}) => (name.includes("heavy") ? 35 : 5));
    for (const name of ["a-heavy1", "a-heavy2"]) queue.push({client: "a", name});
    assert.equal(queue.shift()?.name, "a-heavy1", "alone");
    for (let at = 0; at < 10; at++) queue.push({client: "b", name: `b${at}`});
    const names = drain(queue).split(" ");
    assert.equal(names.indexOf("a-heavy2"), 8, "after four turns of the other client");
  });

  test("while two clients have elements, neither gets more than the other by a turn and one element", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({min: 1, max: 50}), {minLength: 20, maxLength: 60}), costs => {
        const costOf = ({name}: Element) => Number(name);
        const queue = new ClientQueue<Element>(10, costOf);
        for (const [at, cost] of costs.entries())
          queue.push({client: at % 2 === 0 ? "a" : "b", name: `${cost}`});
        const got = {a: 0, b: 0};
        while (queue.countOf("a") > 0 && queue.countOf("b") > 0) {
          const element = queue.shift() as Element;
          got[element.client as "a" | "b"] += costOf(element);
          assert.ok(Math.abs(got.a - got.b) <= 60, JSON.stringify(got));
        }
      }),
    );
  });

  test("a wanted element is the first of its client's, and the other clients come next", () => {
    const queue = fill("a1 a2 b1 c1 b2");
    const take = (unwanted: string) => queue.shiftIf(({client}) => client !== unwanted)?.name;
    assert.deepEqual(
      [take("a"), take("b"), take("c"), take("a"), take("a")],
      ["b1", "a1", "b2", "c1", undefined],
    );
    assert.equal(drain(queue), "a2");
  });
});
