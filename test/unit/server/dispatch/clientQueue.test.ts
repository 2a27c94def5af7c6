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
    assert.equal(queue.has("c"), false);
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
        const isLast = !queue.has(mine);
        queue.push({client: mine, name: "mine"});
        let left = 0;
        while (queue.shift()?.name !== "mine") left++;
        // Of clients with more than this one, the last turn may come before or after it.
        if (isLast) assert.equal(left, ahead);
        else assert.ok(left <= ahead && left >= ahead - 3, `${left} left before it, ${ahead} were expected`);
      }),
    );
  });
});
