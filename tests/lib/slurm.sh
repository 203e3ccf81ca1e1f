#!/bin/sh
# A cluster of one computer: tests/lib/slurm.sh FOLDER COMMAND... starts munged, slurmctld and
# slurmd with all they need in FOLDER (absolute), runs the command with SLURM_CONF set, and ends
# them. Their ports are free ones of this computer.
set -eu
folder=$1
shift
mkdir -p "$folder/munge" "$folder/state" "$folder/spool"
chmod 755 "$folder" "$folder/munge"
user=$(id -un)

free_port() {
    port=$1
    while grep -qi ":$(printf %04X "$port") " /proc/net/tcp; do port=$((port + 1)); done
    echo "$port"
}
control=$(free_port $((20000 + $$ % 20000)))
daemon=$(free_port $((control + 1)))
host=$(hostname -s)

mungekey --create --keyfile="$folder/munge/key" 2>/dev/null
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >"$folder/munged.out" 2>&1 &
pids=$!
trap 'kill $pids 2>/dev/null || true; wait 2>/dev/null || true' EXIT

cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$control
SlurmdPort=$daemon
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=5
MaxArraySize=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES State=UP
END
export SLURM_CONF="$folder/slurm.conf"
until [ -S "$folder/munge/socket" ]; do
    kill -0 "${pids##* }" || { cat "$folder/munged.out" "$folder/munge/log"; exit 1; }
    sleep 0.05
done
slurmctld -D -c -f "$SLURM_CONF" >"$folder/slurmctld.out" 2>&1 &
pids="$pids $!"
slurmd -D -f "$SLURM_CONF" >"$folder/slurmd.out" 2>&1 &
pids="$pids $!"
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
    for pid in $pids; do
        kill -0 "$pid" 2>/dev/null || { tail -n 5 "$folder"/*.log "$folder"/*.out; exit 1; }
    done
    sleep 0.1
done
"$@"
