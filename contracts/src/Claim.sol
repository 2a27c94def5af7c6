// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IProofVerifier} from "./IProofVerifier.sol";
import {StateRootOracle} from "./StateRootOracle.sol";

/// An example. It pays, once, what a contract on layer 2 said at one block that somebody is owed: `mapping(address => uint256)`.
contract Claim {
    IProofVerifier public immutable verifier;
    StateRootOracle public immutable oracle;
    /// The block whose state counts. Were it free to choose, an amount that moves from one account to another could be claimed by both.
    uint256 public immutable blockNumber;
    /// The contract on layer 2, and the slot of its mapping.
    address public immutable account;
    uint256 public immutable mappingSlot;
    mapping(address claimant => bool) public isPaid;
    /// What the payment may cost, since the sender pays for it: enough for a wallet that is a contract.
    uint256 private constant PAYMENT_GAS = 100_000;

    event Paid(address indexed claimant, uint256 amount);

    error AlreadyPaid(address claimant);
    error NothingOwed(address claimant);
    error PaymentFailed();

    constructor(
        IProofVerifier verifier_,
        StateRootOracle oracle_,
        uint256 blockNumber_,
        address account_,
        uint256 mappingSlot_
    ) {
        verifier = verifier_;
        oracle = oracle_;
        blockNumber = blockNumber_;
        account = account_;
        mappingSlot = mappingSlot_;
    }

    receive() external payable {}

    /// Anyone may send the proof; the claimant is paid.
    /// @param proof of the slot from `slotOf`: the compact form of docs/proofs.md, section 9
    function claim(address payable claimant, bytes calldata proof) external {
        if (isPaid[claimant]) revert AlreadyPaid(claimant);
        bytes32[] memory slots = new bytes32[](1);
        slots[0] = slotOf(claimant);
        uint256 amount = uint256(verifier.verifySlots(oracle.stateRoot(blockNumber), account, slots, proof)[0]);
        if (amount == 0) revert NothingOwed(claimant);
        // Before the payment, which may call back.
        isPaid[claimant] = true;
        bool done;
        // Not `claimant.call{value: amount}("")`: it copies what the claimant returns, and the sender pays for that memory.
        assembly ("memory-safe") {
            done := call(PAYMENT_GAS, claimant, amount, 0, 0, 0, 0)
        }
        if (!done) revert PaymentFailed();
        emit Paid(claimant, amount);
    }

    /// Where Solidity keeps the claimant's entry of the mapping.
    function slotOf(address claimant) public view returns (bytes32) {
        return keccak256(abi.encode(claimant, mappingSlot));
    }
}
