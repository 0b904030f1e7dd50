# Completion of turnbuckle for bash: the program itself knows what may come next.

_turnbuckle() {
    local IFS=$' \t\n' rest=$COMP_LINE piece prefix line reply
    local -a typed=()
    local -i index last=0
    # Bash cuts words at = and :, which are parts of ours; what no blank precedes belongs together.
    # The words behind the one being typed may name the server, after --.
    for ((index = 0; index < ${#COMP_WORDS[@]}; index++)); do
        piece=${COMP_WORDS[index]}
        if ((index == 0 || index == COMP_CWORD + 1)) || [[ $rest == [[:space:]]* ]]; then
            typed+=("$piece")
        else
            typed[${#typed[@]} - 1]+=$piece
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$piece"}
        ((index == COMP_CWORD)) && last=$((${#typed[@]} - 1))
    done
    # The text before the last separator is there already.
    piece=${typed[last]}
    prefix=${piece%"${piece##*[=:]}"}
    [[ $COMP_WORDBREAKS == *[=:]* ]] || prefix=
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default 2>/dev/null
            [[ $piece == *=@* ]] && mapfile -t COMPREPLY < <(compgen -P @ -f -- "${piece#*=@}")
            return
        fi
        reply=${line%%$'\t'*}
        reply=${reply#"$prefix"}
        # A name is followed by its value at once.
        [[ $reply == *= ]] && compopt -o nospace 2>/dev/null
        printf -v reply %q "$reply"
        COMPREPLY+=("$reply")
    done < <("${COMP_WORDS[0]}" __complete --behind $((${#typed[@]} - 1 - last)) -- "${typed[@]:1}" 2>/dev/null)
}

complete -F _turnbuckle turnbuckle
