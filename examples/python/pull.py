"""Asks a proofd for accounts, or for all accounts of a range, and verifies the answer against a state root that you trust.

    pull.py URL BLOCK ROOT accounts ADDRESS...
    pull.py URL BLOCK ROOT range FROM COUNT

Only for chains that hash with SHA-256. The forms of the answers are those of docs/proofs.md, sections 9 (accounts) and 15 (ranges).
"""
import hashlib, json, sys, urllib.request

NO_CODE_KECCAK = bytes.fromhex("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
TAIL_KEY = b"\xff" * 32

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
        self.data, self.at = data, 0

    def take(self, size):
        check(self.at + size <= len(self.data), "the proof ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def account(self, flags, nonce_bytes):
        """The fields of an account, and its 192 bytes."""
        nonce, balance = self.number(nonce_bytes), self.number(self.number(1))
        size, code, keccak = 0, sha(), NO_CODE_KECCAK
        if flags & 0x40:
            size, code, keccak = self.number(self.number(1)), self.take(32), self.take(32)
        storage = self.take(32) if flags & 0x80 else NEW_TREE
        fields = {"nonce": nonce, "balance": balance, "codeSize": size, "storageRoot": "0x" + storage.hex()}
        return fields, word(nonce) + word(balance) + storage + code + keccak + word(size)

def verify_accounts(data, addresses, root):
    """The account of each address; None: it is proven to be absent."""
    reader = Reader(data)
    check(reader.number(1) == 1, "this is no proof of accounts")
    next_free, count = reader.number(5), reader.number(2)
    places = [(first, reader.number(2) if first >= 0x8000 else None) for first in (reader.number(2) for _ in addresses)]
    indexes = [reader.number(5) for _ in range(count)]
    check(indexes == sorted(set(indexes)) and count > 0 and indexes[-1] < next_free, "leaf indexes are out of order")
    check(all(first % 0x8000 < count > (right or 0) for first, right in places), "a key names no leaf")
    keys = [sha(bytes(12), bytes.fromhex(address[2:])) for address in addresses]
    own = {leaf: key for (leaf, right), key in zip(places, keys) if right is None}
    leaves, fields, nodes, siblings = [], {}, {}, {}
    for k, index in enumerate(indexes):
        prev, following, bitmap = reader.number(5), reader.number(5), reader.number(5)
        key, value = (bytes(32), bytes(32)) if index == 0 else (TAIL_KEY, bytes(32))
        if k in own:
            check(index > 1, "head or tail stands for an account")
            flags = reader.number(1)
            fields[k], account = reader.account(flags, flags & 0x3F)
            key, value = own[k], sha(account)
        elif index > 1:
            key, value = reader.take(32), reader.take(32)
        leaves.append((index, prev, following, key))
        nodes[index] = sha(word(prev), word(following), key, value)
        for height in (height for height in range(40) if bitmap >> height & 1):
            other = (index >> height) ^ 1
            check(other << height < next_free, "a sibling lies beyond the tree's end")
            siblings[height, other] = reader.take(32)
    check(reader.at == len(data), "something follows the proof")
    for height in range(40):
        at = lambda i: nodes.get(i) or siblings.get((height, i)) or ZERO[height]
        nodes = {i >> 1: sha(at(i & ~1), at(i | 1)) for i in nodes}
    check(sha(word(next_free), nodes[0]) == root, "the proof does not fold to the trusted root")
    for (first, right), key in zip(places, keys):
        if right is not None:
            (left, _, after, low), (index, before, _, high) = leaves[first - 0x8000], leaves[right]
            check(after == index and before == left and low < key < high, "the leaves are not around the address")
    return [fields[first] if right is None else None for first, right in places]

def verify_range(data, start, count, root):
    """The leaves of the account tree from index `start` on, one for each position, and the tree's next free index."""
    reader = Reader(data)
    check(reader.number(1) == 3 and reader.take(70)[-32:] == root, "this is no range of the trusted root")
    next_free, first, size = reader.number(5), reader.number(5), reader.number(2)
    end, width = first + size, ((next_free - 1).bit_length() + 7) // 8
    check(first == start and 0 < size <= count and end <= next_free, "this is another range")
    leaves, hashes = [], []
    for index in range(start, end):
        leaf, value = {"leafIndex": index}, bytes(32)
        if index < 2:  # head or tail, of which one link is sent
            links, key = ((0, reader.number(width)), bytes(32)) if index == 0 else ((reader.number(width), 1), TAIL_KEY)
        else:
            flags = reader.number(1)
            if flags == 0x0F:
                leaves.append({**leaf, "removed": True})
                hashes.append(bytes(32))
                continue
            check(flags & 0x30 == 0, "a flag without meaning is set")
            address, links = reader.take(20), (reader.number(width), reader.number(width))
            fields, account = reader.account(flags, flags & 0x0F)
            leaf, key, value = {**leaf, "address": "0x" + address.hex(), **fields}, sha(bytes(12), address), sha(account)
        leaves.append(leaf)
        hashes.append(sha(word(links[0]), word(links[1]), key, value))

    def node(height, i):
        if i << height >= next_free:
            return ZERO[height]
        if (i + 1) << height <= start or i << height >= end:
            return reader.take(32)
        return hashes[i - start] if height == 0 else sha(node(height - 1, 2 * i), node(height - 1, 2 * i + 1))

    check(sha(word(next_free), node(40, 0)) == root, "the range does not fold to the trusted root")
    check(reader.at == len(data), "something follows the proof")
    return leaves, next_free

def call(url, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=60))
    check("result" in answer, f"{method}: {answer.get('error')}")
    return bytes.fromhex(answer["result"][2:])

def main(url, block, root, what, *rest):
    trusted, selector = bytes.fromhex(root[2:]), hex(int(block, 0))
    if what == "accounts":
        proof = call(url, "chain_getMultiProof", [[{"address": one, "storageKeys": []} for one in rest], selector])
        lines = [{"address": one, "account": account} for one, account in zip(rest, verify_accounts(proof, rest, trusted))]
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
