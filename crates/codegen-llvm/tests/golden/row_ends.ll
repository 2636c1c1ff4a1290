define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <16 x i1>, align 2
  %16 = alloca <16 x i1>, align 2
  %17 = alloca <16 x i1>, align 2
  %18 = alloca <16 x float>, align 64
  %19 = alloca i64, align 8
  %20 = alloca <16 x float>, align 64
  %21 = alloca float, align 4
  %22 = alloca i64, align 8
  %23 = alloca float, align 4
  br label %24

24:
  %25 = load i32, ptr %1, align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr i8, ptr %1, i64 4
  %28 = load i32, ptr %27, align 4
  %29 = zext i32 %28 to i64
  %30 = getelementptr i8, ptr %1, i64 8
  %31 = load i32, ptr %30, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 16
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr i8, ptr %1, i64 20
  %37 = load i32, ptr %36, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr i8, ptr %1, i64 24
  %40 = load i32, ptr %39, align 4
  %41 = zext i32 %40 to i64
  %42 = getelementptr i8, ptr %1, i64 32
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr i8, ptr %1, i64 40
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr i8, ptr %1, i64 48
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr i8, ptr %1, i64 28
  %49 = load i32, ptr %48, align 4
  %50 = zext i32 %49 to i64
  %51 = getelementptr i8, ptr %1, i64 12
  %52 = load i32, ptr %51, align 4
  %53 = zext i32 %52 to i64
  %54 = getelementptr i8, ptr %1, i64 72
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr i8, ptr %1, i64 56
  %57 = load i64, ptr %56, align 8
  %58 = getelementptr i8, ptr %4, i64 %57
  %59 = load ptr, ptr %0, align 8
  %60 = getelementptr i8, ptr %0, i64 8
  %61 = load ptr, ptr %60, align 8
  %62 = add i64 %2, %3
  %63 = getelementptr i8, ptr %1, i64 80
  %64 = load ptr, ptr %63, align 8
  store i8 0, ptr %6, align 1
  %65 = icmp eq ptr %64, null
  %66 = select i1 %65, ptr %6, ptr %64
  br label %67

67:
  %68 = phi i64 [ %2, %24 ], [ %85, %84 ]
  %69 = icmp ult i64 %68, %62
  br i1 %69, label %70, label %86

70:
  %71 = load atomic i8, ptr %66 monotonic, align 1
  %72 = icmp ne i8 %71, 0
  br i1 %72, label %86, label %73

73:
  %74 = udiv i64 %68, %35
  %75 = urem i64 %68, %35
  %76 = urem i64 %74, %38
  %77 = udiv i64 %74, %38
  %78 = mul i64 %75, %26
  %79 = add i64 %78, %43
  %80 = mul i64 %76, %29
  %81 = add i64 %80, %45
  %82 = mul i64 %77, %32
  %83 = add i64 %82, %47
  br label %87

84:
  %85 = add i64 %68, 1
  br label %67

86:
  ret void

87:
  store i64 0, ptr %10, align 8
  br label %88

88:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %89

89:
  store i64 0, ptr %8, align 8
  %90 = load i64, ptr %9, align 8
  %91 = load i64, ptr %10, align 8
  %92 = mul i64 %91, %29
  %93 = add i64 %92, %90
  %94 = mul i64 %93, %26
  %95 = add i64 %94, 0
  %96 = sub i64 %26, 1
  %97 = add i64 %81, %90
  %98 = trunc i64 %97 to i32
  %99 = shl i32 %98, 7
  %100 = add i64 %79, 0
  %101 = trunc i64 %100 to i32
  %102 = add i32 %99, %101
  %103 = mul i64 %96, 1
  %104 = sext i32 %102 to i64
  %105 = add i64 %104, %103
  %106 = trunc i64 %105 to i32
  %107 = sext i32 %106 to i64
  %108 = icmp eq i64 %105, %107
  br i1 %108, label %126, label %125

109:
  %110 = load i64, ptr %8, align 8
  %111 = sub i64 %26, %110
  %112 = icmp uge i64 %111, 16
  br i1 %112, label %127, label %140

113:
  br label %186

114:
  %115 = load i64, ptr %9, align 8
  %116 = add i64 %115, 1
  store i64 %116, ptr %9, align 8
  %117 = load i64, ptr %9, align 8
  %118 = icmp ult i64 %117, %29
  br i1 %118, label %89, label %119

119:
  %120 = load i64, ptr %10, align 8
  %121 = add i64 %120, 1
  store i64 %121, ptr %10, align 8
  %122 = load i64, ptr %10, align 8
  %123 = icmp ult i64 %122, %32
  br i1 %123, label %88, label %124

124:
  br label %84

125:
  store i64 0, ptr %11, align 8
  store i64 %26, ptr %12, align 8
  br label %113

126:
  br label %109

127:
  %128 = load i64, ptr %8, align 8
  %129 = load i64, ptr %9, align 8
  %130 = load i64, ptr %10, align 8
  %131 = mul i64 %130, %29
  %132 = add i64 %131, %129
  %133 = mul i64 %132, %26
  %134 = add i64 %133, %128
  store <16 x i1> zeroinitializer, ptr %15, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  br label %142

135:
  %136 = load i64, ptr %8, align 8
  %137 = add i64 %136, 16
  store i64 %137, ptr %8, align 8
  %138 = load i64, ptr %8, align 8
  %139 = icmp ult i64 %138, %26
  br i1 %139, label %109, label %114

140:
  %141 = load i64, ptr %8, align 8
  store i64 %141, ptr %11, align 8
  store i64 %26, ptr %12, align 8
  br label %113

142:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %143 = add i64 %79, %128
  %144 = add i64 %81, %129
  %145 = trunc i64 %143 to i32
  %146 = trunc i64 %144 to i32
  %147 = shl i32 %146, 7
  %148 = add i32 %147, %145
  %149 = sext i32 %148 to i64
  store i64 %149, ptr %19, align 8
  %150 = mul i64 %149, 4
  %151 = getelementptr i8, ptr %59, i64 %150
  %152 = load <16 x float>, ptr %151, align 4
  store <16 x float> %152, ptr %20, align 64
  %153 = insertelement <16 x i32> poison, i32 %145, i32 0
  %154 = shufflevector <16 x i32> %153, <16 x i32> poison, <16 x i32> zeroinitializer
  %155 = add <16 x i32> %154, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %156 = icmp ne <16 x i32> %155, zeroinitializer
  %157 = xor <16 x i1> %156, splat (i1 true)
  %158 = load <16 x i1>, ptr %16, align 2
  %159 = or <16 x i1> %158, %156
  store <16 x i1> %159, ptr %16, align 2
  store <16 x float> %152, ptr %18, align 64
  %160 = load <16 x i1>, ptr %17, align 2
  %161 = or <16 x i1> %160, %157
  store <16 x i1> %161, ptr %17, align 2
  br label %180

162:
  %163 = load <16 x i1>, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  %164 = load i64, ptr %19, align 8
  %165 = mul i64 %164, 4
  %166 = getelementptr i8, ptr %59, i64 %165
  %167 = getelementptr i8, ptr %166, i64 -4
  %168 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %167, <16 x i1> %163, <16 x float> poison)
  %169 = load <16 x float>, ptr %20, align 64
  %170 = fadd <16 x float> %169, %168
  %171 = load <16 x float>, ptr %18, align 64
  %172 = select <16 x i1> %163, <16 x float> %170, <16 x float> %171
  store <16 x float> %172, ptr %18, align 64
  %173 = load <16 x i1>, ptr %17, align 2
  %174 = or <16 x i1> %173, %163
  store <16 x i1> %174, ptr %17, align 2
  br label %175

175:
  store <16 x i1> zeroinitializer, ptr %17, align 2
  %176 = load <16 x float>, ptr %18, align 64
  %177 = load i64, ptr %19, align 8
  %178 = mul i64 %177, 4
  %179 = getelementptr i8, ptr %61, i64 %178
  store <16 x float> %176, ptr %179, align 4
  store i32 -1, ptr %7, align 4
  br label %135

180:
  %181 = load <16 x i1>, ptr %16, align 2
  %182 = bitcast <16 x i1> %181 to i16
  %183 = icmp ne i16 %182, 0
  br i1 %183, label %184, label %185

184:
  br label %162

185:
  store <16 x i1> zeroinitializer, ptr %16, align 2
  br label %175

186:
  %187 = load i64, ptr %11, align 8
  %188 = load i64, ptr %9, align 8
  %189 = load i64, ptr %10, align 8
  %190 = mul i64 %189, %29
  %191 = add i64 %190, %188
  %192 = mul i64 %191, %26
  %193 = add i64 %192, %187
  br label %204

194:
  %195 = load i64, ptr %11, align 8
  %196 = add i64 %195, 1
  store i64 %196, ptr %11, align 8
  %197 = load i64, ptr %11, align 8
  %198 = load i64, ptr %12, align 8
  %199 = icmp ult i64 %197, %198
  br i1 %199, label %186, label %200

200:
  %201 = load i64, ptr %12, align 8
  store i64 %201, ptr %8, align 8
  %202 = load i64, ptr %12, align 8
  %203 = icmp ult i64 %202, %26
  br i1 %203, label %109, label %114

204:
  %205 = add i64 %79, %187
  %206 = add i64 %81, %188
  %207 = trunc i64 %205 to i32
  %208 = trunc i64 %206 to i32
  %209 = shl i32 %208, 7
  %210 = add i32 %209, %207
  %211 = sext i32 %210 to i64
  store i64 %211, ptr %22, align 8
  %212 = mul i64 %211, 4
  %213 = getelementptr i8, ptr %59, i64 %212
  %214 = load float, ptr %213, align 4
  store float %214, ptr %23, align 4
  %215 = icmp ne i32 %207, 0
  br i1 %215, label %229, label %230

216:
  %217 = load i64, ptr %22, align 8
  %218 = mul i64 %217, 4
  %219 = getelementptr i8, ptr %59, i64 %218
  %220 = getelementptr i8, ptr %219, i64 -4
  %221 = load float, ptr %220, align 4
  %222 = load float, ptr %23, align 4
  %223 = fadd float %222, %221
  store float %223, ptr %21, align 4
  br label %224

224:
  %225 = load float, ptr %21, align 4
  %226 = load i64, ptr %22, align 8
  %227 = mul i64 %226, 4
  %228 = getelementptr i8, ptr %61, i64 %227
  store float %225, ptr %228, align 4
  store i32 -1, ptr %7, align 4
  br label %194

229:
  br label %216

230:
  store float %214, ptr %21, align 4
  br label %224
