-- Why a claim is not reproduced, or partly: what an experiment showed. By figure and claim, without what stands in brackets.
return {
}
