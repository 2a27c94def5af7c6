"""Asks a proofd for accounts, slots, all accounts of a range, or all accounts that changed, and verifies the answer against state roots
that you trust.

    pull.py URL BLOCK ROOT accounts ADDRESS...
    pull.py URL BLOCK ROOT slots ADDRESS SLOT...
    pull.py URL BLOCK ROOT range FROM COUNT
    pull.py URL BLOCK ROOT changes EARLIER_BLOCK EARLIER_ROOT

Only for chains that hash with SHA-256. The forms of the answers are those of docs/proofs.md, sections 9 (accounts and slots), 15
(ranges) and 16 (changes).
"""
import hashlib, json, sys, urllib.request

NO_CODE_KECCAK = bytes.fromhex("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
TAIL_KEY = b"\xff" * 32
LAST = 2**80 - 1
MOST = 4096

def check(holds, message):
    if not holds:
        raise ValueError(message)

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def word(number):
    return number.to_bytes(32, "big")

ZERO = [bytes(32)]  # the empty sub-trees by height
for _ in range(40):
    ZERO.append(sha(ZERO[-1], ZERO[-1]))
NEW_TREE = bytes.fromhex("236e8dc4476b99459a9cb68b079c79a80db0c759a9788d57ae6c473d89c42206")  # the root of a tree without leaves

class Reader:
    def __init__(self, data):
        self.data, self.at, self.bits, self.left = data, 0, 0, 0

    def take(self, size):
        check(self.at + size <= len(self.data), "the proof ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def bit(self):
        if self.left == 0:
            self.bits, self.left = self.number(1), 8
        self.left -= 1
        return self.bits >> self.left & 1

    def end(self):
        check(self.at == len(self.data) and self.bits % (1 << self.left) == 0, "trailing bytes after the proof")

    def account(self, flags, nonce_bytes, storage_root=None):
        """The fields of an account, and its 192 bytes. `storage_root` reads the root, if that is not what is sent."""
        nonce, balance = self.number(nonce_bytes), self.number(self.number(1))
        size, code, keccak = 0, sha(), NO_CODE_KECCAK
        if flags & 0x40:
            size, code, keccak = self.number(self.number(1)), self.take(32), self.take(32)
        storage = (storage_root() if storage_root else self.take(32)) if flags & 0x80 else NEW_TREE
        fields = {"nonce": nonce, "balance": balance, "codeSize": size, "storageRoot": "0x" + storage.hex()}
        return fields, word(nonce) + word(balance) + storage + code + keccak + word(size)

    def record(self, width, address=None):
        """An account's leaf: its fields, its hash, and what is hashed with the links. The fields are None: it was deleted."""
        flags = self.number(1)
        if flags == 0x0F:
            return None, bytes(32), b""
        check(flags & 0x30 == 0, "a flag without meaning is set")
        address = address or self.take(20)
        links = self.links(width)
        fields, account = self.account(flags, flags & 0x0F)
        content = sha(bytes(12), address) + sha(account)
        return {"address": "0x" + address.hex(), **fields}, sha(links, content), content

    def links(self, width):
        return word(self.number(width)) + word(self.number(width))

    def end_leaf(self, index, width):
        """The hash of the head or the tail, of which one link is sent."""
        link = self.number(width)
        return sha(word(0), word(link), bytes(64)) if index == 0 else sha(word(link), word(1), TAIL_KEY, bytes(32))

def verify_keys(reader, keys, read_value):
    """The part of a proof that proves these hashed keys in one tree: the tree's root, and what each key has there; None: it is absent.

    `read_value` takes the positions of the keys that one leaf has, reads its value and gives what it is, and its hash.
    """
    next_free, count = reader.number(5), reader.number(2)
    places = [(first, reader.number(2) if first >= 0x8000 else None) for first in (reader.number(2) for _ in keys)]
    indexes = [reader.number(5) for _ in range(count)]
    check(indexes == sorted(set(indexes)) and count > 0 and indexes[-1] < next_free, "leaf indexes are out of order")
    check(all(first % 0x8000 < count > (right or 0) for first, right in places), "a key names no leaf")
    leaves, values, nodes, siblings = [], {}, {}, {}
    for k, index in enumerate(indexes):
        prev, following, bitmap = reader.number(5), reader.number(5), reader.number(5)
        key, value = (bytes(32), bytes(32)) if index == 0 else (TAIL_KEY, bytes(32))
        own = [i for i, place in enumerate(places) if place == (k, None)]
        if own:
            check(index > 1 and len({keys[i] for i in own}) == 1, "a leaf stands for another key")
            values[k], value = read_value(own)
            key = keys[own[0]]
        elif index > 1:
            key, value = reader.take(32), reader.take(32)
        leaves.append((index, prev, following, key))
        nodes[index] = sha(word(prev), word(following), key, value)
        for height in (height for height in range(40) if bitmap >> height & 1):
            other = (index >> height) ^ 1
            check(other << height < next_free, "a sibling lies beyond the tree's end")
            siblings[height, other] = reader.take(32)
    for height in range(40):
        at = lambda i: nodes.get(i) or siblings.get((height, i)) or ZERO[height]
        nodes = {i >> 1: sha(at(i & ~1), at(i | 1)) for i in nodes}
    for (first, right), key in zip(places, keys):
        if right is not None:
            (left, _, after, low), (index, before, _, high) = leaves[first - 0x8000], leaves[right]
            check(after == index and before == left and low < key < high, "the leaves are not around the key")
    return sha(word(next_free), nodes[0]), [values[first] if right is None else None for first, right in places]

def verify_accounts(data, entries, root):
    """For each entry, an address and its slots: the account, or None if it is proven to be absent; and the value of each slot."""
    reader = Reader(data)
    check(reader.number(1) == 1, "this is no proof of accounts")

    def slot_value(_):
        value = reader.number(reader.number(1))
        check(value > 0, "a slot without a value has a leaf")
        return value, sha(word(value))

    def account_value(own):
        slots, found = [slot for i in own for slot in entries[i][1]], []

        def storage_root():
            storage, values = verify_keys(reader, [sha(word(slot)) for slot in slots], slot_value)
            found.extend(zip(slots, values))
            return storage

        flags = reader.number(1)
        fields, account = reader.account(flags, flags & 0x3F, storage_root if slots else None)
        return (fields, dict(found)), sha(account)

    keys = [sha(bytes(12), bytes.fromhex(address[2:])) for address, _ in entries]
    folded, found = verify_keys(reader, keys, account_value)
    check(folded == root, "the proof does not fold to the trusted root")
    reader.end()
    accounts = [one or (None, {}) for one in found]
    return [(fields, [values.get(slot) or 0 for slot in slots]) for (fields, values), (_, slots) in zip(accounts, entries)]

def verify_range(data, start, count, root):
    """The leaves of the account tree from index `start` on, one for each position, and the tree's next free index."""
    reader = Reader(data)
    check(reader.number(1) == 3 and reader.take(70)[-32:] == root, "this is no range of the trusted root")
    next_free, first, size = reader.number(5), reader.number(5), reader.number(2)
    end, width = first + size, ((next_free - 1).bit_length() + 7) // 8
    check(first == start and 0 < size <= count and end <= next_free, "this is another range")
    leaves, hashes = [], []
    for index in range(start, end):
        fields, leaf = ({}, reader.end_leaf(index, width)) if index < 2 else reader.record(width)[:2]
        leaves.append({"leafIndex": index, **({"removed": True} if fields is None else fields)})
        hashes.append(leaf)

    def node(height, i):
        if i << height >= next_free:
            return ZERO[height]
        if (i + 1) << height <= start or i << height >= end:
            return reader.take(32)
        return hashes[i - start] if height == 0 else sha(node(height - 1, 2 * i), node(height - 1, 2 * i + 1))

    check(sha(word(next_free), node(40, 0)) == root, "the range does not fold to the trusted root")
    reader.end()
    return leaves, next_free

def verify_changes(data, start, roots):
    """The leaves of the account tree that differ between two states, from cursor `start` on, and the cursor after them."""
    reader = Reader(data)
    check(reader.number(1) == 4 and all(reader.take(70)[-32:] == root for root in roots), "these are no changes of the trusted roots")
    from_cursor, end = reader.number(10), reader.number(10)
    check(from_cursor == start < end, "this is another part of the changes")
    ends = reader.number(5), reader.number(5)
    check(min(ends) > 1, "a tree has no head and tail")
    width, height = ((max(ends) - 1).bit_length() + 7) // 8, (max(ends) - 1).bit_length()
    first, last, stop = start >> 40, end >> 40, None if end == LAST else end >> 40
    leaves, stopped = [], end == LAST

    def leaf(index):
        if index < 2:
            return [reader.end_leaf(index, width) for _ in ends]
        used = [index < end for end in ends]
        fields, leaf, content = reader.record(width)
        versions, hashes = [fields if one else None for one in used], [leaf if one else bytes(32) for one in used]
        if all(used):
            if fields is None:
                versions[1], hashes[1], _ = reader.record(width)
            elif reader.bit():
                versions[1], hashes[1], _ = reader.record(width, bytes.fromhex(fields["address"][2:]))
                check(versions[1] != fields, "an unchanged value is sent again")
            else:
                hashes[1] = sha(reader.links(width), content)
        leaves.append({"leafIndex": index, "before": versions[0], "after": versions[1]})
        return hashes

    def node(height, i):
        nonlocal stopped
        used = [i << height < end for end in ends]
        if not any(used):
            return [ZERO[height]] * 2
        if reader.bit() == 0:
            return [reader.take(32) if all(used) else ZERO[height]] * 2
        closed = (i + 1) << height <= first or i << height > last or height == 0 and i == stop
        if closed:
            stopped = stopped or height == 0 and i == stop
            pair = [reader.take(32) if one else ZERO[height] for one in used]
        elif height == 0:
            pair = leaf(i)
        else:
            pair = [sha(a, b) for a, b in zip(node(height - 1, 2 * i), node(height - 1, 2 * i + 1))]
        check(pair[0] != pair[1], "what is the same is sent as different")
        return pair

    pair = node(height, 0)
    for above in range(height, 40):
        pair = [sha(one, ZERO[above]) for one in pair]
    check([sha(word(one), sub) for one, sub in zip(ends, pair)] == roots, "the changes do not fold to the trusted roots")
    check(stopped, "the changes end where nothing differs")
    reader.end()
    return leaves, end

def call(url, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=60))
    check("result" in answer, f"{method}: {answer.get('error')}")
    return bytes.fromhex(answer["result"][2:])

def main(url, block, root, what, *rest):
    trusted, selector = bytes.fromhex(root[2:]), hex(int(block, 0))
    if what in ("accounts", "slots"):
        entries = [(one, []) for one in rest] if what == "accounts" else [(rest[0], [int(slot, 0) for slot in rest[1:]])]
        asked = [{"address": one, "storageKeys": [hex(slot) for slot in slots]} for one, slots in entries]
        found = verify_accounts(call(url, "chain_getMultiProof", [asked, selector]), entries, trusted)
        lines = [{"address": one, "account": account} for (one, _), (account, _) in zip(entries, found)]
        lines += [{"slot": hex(slot), "value": hex(value)} for slot, value in zip(entries[0][1], found[0][1])]
    elif what == "changes":
        check(len(rest) == 2, __doc__)
        earlier, cursor, lines = bytes.fromhex(rest[1][2:]), 0, []
        while cursor != LAST:
            proof = call(url, "chain_getChanges", ["accounts", hex(int(rest[0], 0)), selector, hex(cursor), hex(MOST)])
            changes, cursor = verify_changes(proof, cursor, [earlier, trusted])
            lines += changes
    else:
        check(what == "range" and len(rest) == 2, __doc__)
        start, count = int(rest[0], 0), int(rest[1], 0)
        proof = call(url, "chain_getLeaves", ["accounts", hex(start), hex(count), selector])
        lines, next_free = verify_range(proof, start, count, trusted)
        lines.append({"nextFreeNode": next_free})
    print(*map(json.dumps, lines), sep="\n")

if __name__ == "__main__":
    try:
        main(*sys.argv[1:]) if len(sys.argv) > 5 else sys.exit(__doc__)
    except (ValueError, OSError) as error:
        sys.exit(f"pull.py: {error}")
