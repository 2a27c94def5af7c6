// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Keeps ether and a note for the factory that created it.
contract Vault {
    address public immutable maker;
    uint256 public note;

    constructor(uint256 note_) payable {
        maker = msg.sender;
        note = note_;
    }

    receive() external payable {}
}

/// Gone at the end of the transaction that creates it, with the slot it wrote and the ether its address had.
contract Ephemeral {
    uint256 private trace;

    constructor() payable {
        trace = 1;
        selfdestruct(payable(msg.sender));
    }
}

contract Factory {
    address public last;
    uint256 public made;

    receive() external payable {}

    function make(uint256 note) external payable {
        last = address(new Vault{value: msg.value}(note));
        made++;
    }

    function makeAt(bytes32 salt, uint256 note) external payable {
        last = address(new Vault{value: msg.value, salt: salt}(note));
        made++;
    }

    /// Creates a contract at a known address and destroys it. This deletes an account that was there before (EIP-6780).
    function makeAndDestroy(bytes32 salt) external {
        new Ephemeral{salt: salt}();
    }
}
