import assert from "node:assert/strict";
import {describe, test} from "node:test";
import fc from "fast-check";
import {ClientQueue} from "../../../../server/fairness/clientQueue.ts";

interface Element {
  readonly client: string;
  readonly name: string;
}

/** An element costs what follows the slash in its name, or 1. */
function fill(names: string): ClientQueue<Element> {
  const queue = new ClientQueue<Element>(({name}) => Number(name.split("/")[1] ?? 1));
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
  for (const [title, pushed, shifted] of [
    ["elements of one cost leave in turns", "a1 a2 a3 b1 c1 a4 b2", "a1 b1 c1 a2 b2 a3 a4"],
    [
      "a client whose elements cost little is next",
      "a1/2000 a2/2000 b1/2000 b2/2000 c1 c2",
      "c1 c2 a1/2000 b1/2000 a2/2000 b2/2000",
    ],
    [
      "an element costs its client the turns of others",
      "a1/4 a2/4 b1 b2 b3 b4 b5",
      "b1 b2 b3 a1/4 b4 b5 a2/4",
    ],
  ] as const)
    test(title, () => assert.equal(drain(fill(pushed)), shifted));

  test("a client that comes back is behind those who have got less", () => {
    const queue = fill("a1 b1 b2");
    assert.equal(queue.shift()?.name, "a1");
    queue.push({client: "a", name: "a2"});
    assert.equal(drain(queue), "b1 a2 b2");
  });

  test("what an element took more than its cost counts, whether its client waits or not", () => {
    const queue = fill("a1 a2 b1 b2 c1 c2");
    for (const name of ["a1", "b1"]) assert.equal(queue.shift()?.name, name);
    queue.charge("a", 10);
    queue.charge("d", 10);
    queue.push({client: "b", name: "b3"});
    assert.equal(drain(queue), "c1 b2 c2 b3 a2");
  });

  test("what is put back costs again, and is before what its client pushed meanwhile", () => {
    const queue = fill("a1/2 b1/3 b2/3");
    const taken = queue.shift() as Element;
    queue.push({client: "a", name: "a2"});
    queue.putBack(taken);
    queue.charge("a", -1);
    assert.equal(drain(queue), "b1/3 a1/2 a2 b2/3");
    queue.putBack(taken);
    assert.equal(drain(queue), "a1/2");
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
    assert.equal(
      queue.findLargest(client => queue.countOf(client)),
      "b",
    );
    assert.equal(queue.pop("b")?.name, "b2");
    assert.equal(queue.pop("c"), undefined);
    assert.equal(drain(queue), "a2 b1");
    assert.equal(
      queue.findLargest(() => 1),
      undefined,
    );
  });

  test("a client that takes less than its share has at most one element before its own, however many others wait", () => {
    for (const others of [4, 20, 200]) {
      const queue = new ClientQueue<Element>(({client}) => (client === "mine" ? 1 : 2000));
      const pushOther = (client: string) => queue.push({client, name: client});
      for (let at = 0; at < others; at++) for (let i = 0; i < 6; i++) pushOther(`${at}`);
      for (let asked = 0; asked < 5 * others; asked++) {
        queue.push({client: "mine", name: "mine"});
        assert.ok(queue.costAhead("mine", 1, 1) <= 2 * 2000);
        for (let left = 0; ; left++) {
          const element = queue.shift() as Element;
          if (element.client === "mine") break;
          assert.equal(left, 0, `${others} others, request ${asked}`);
          pushOther(element.client);
        }
        pushOther((queue.shift() as Element).client);
      }
    }
  });

  test("what is ahead of a client is at least what leaves before an element that it adds", () => {
    const client = fc.constantFrom("a", "b", "c", "d");
    const element = fc.record({client, cost: fc.integer({min: 1, max: 50})});
    fc.assert(
      fc.property(fc.array(fc.oneof(element, fc.constant(null)), {maxLength: 40}), element, (steps, mine) => {
        const queue = new ClientQueue<Element>(({name}) => Number(name));
        let own = 0;
        const shift = () => {
          const {client, name} = queue.shift() ?? {client: "", name: "0"};
          if (client === mine.client) own -= Number(name);
          return Number(name);
        };
        for (const step of steps) {
          if (step === null) shift();
          else queue.push({client: step.client, name: `${step.cost}`});
          if (step?.client === mine.client) own += step.cost;
        }
        const ahead = queue.costAhead(mine.client, own, mine.cost);
        const last = {client: mine.client, name: `${mine.cost}`};
        queue.push(last);
        let left = 0;
        while (queue.peek() !== last) left += shift();
        assert.ok(left <= ahead + 1e-6, `${left} left before it, ${ahead} were expected`);
      }),
    );
  });

  test("while two clients have elements, neither gets more than the other by two elements", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({min: 1, max: 50}), {minLength: 20, maxLength: 60}), costs => {
        const queue = new ClientQueue<Element>(({name}) => Number(name));
        for (const [at, cost] of costs.entries())
          queue.push({client: at % 2 === 0 ? "a" : "b", name: `${cost}`});
        const got = {a: 0, b: 0};
        while (queue.countOf("a") > 0 && queue.countOf("b") > 0) {
          const {client, name} = queue.shift() as Element;
          got[client as "a" | "b"] += Number(name);
          assert.ok(Math.abs(got.a - got.b) <= 100, JSON.stringify(got));
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

  test("of any number of clients that came once, few are remembered", () => {
    const queue = fill("z1 z2");
    for (let at = 0; at < 10_000; at++) {
      queue.push({client: `${at}`, name: "once"});
      queue.shift();
    }
    assert.ok(Object.values(queue).some(value => value instanceof Map && value.size < 200));
  });
});
